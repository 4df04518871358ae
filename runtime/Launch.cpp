// Runs a launch: cuts its buffers for each task and calls kernels.
// Must not allocate, and must not care in which order tasks run.
#include "runtime/Partition.h"
#include "runtime/Session.h"

#include <time.h>

namespace mille {

namespace {
constexpr int64_t readableRows = 8; // rows that follow the last in the arena

struct Job {
  mille_session *session;
  const mille_stage *stages;
  int32_t count;
  int64_t rows; // of the launch, or of a sequence
  bool sequences;
  Split split;
};

int outRow(const mille_kernel &kernel) {
  return kernel.row_dimension[kernel.buffer_count - 1];
}

// The dimension of the out that column tasks cut; -1: none.
int outColumn(const mille_kernel &kernel) {
  if (kernel.partition == MILLE_PARTITION_SEQUENCES)
    return 2;
  return outRow(kernel) == 0 ? -1 : 0;
}

int64_t outColumns(const mille_stage &stage) {
  int column = outColumn(*stage.kernel);
  const mille_buffer &out = stage.buffers[stage.kernel->buffer_count - 1];
  return column < 0 ? 1 : out.dimension[column].extent;
}

// Moves the buffer's start along a dimension; min is what it is called there.
void cut(mille_buffer &buffer, int dimension, int64_t first, int64_t min,
         int64_t extent) {
  mille_dimension &d = buffer.dimension[dimension];
  int64_t bytes = buffer.type_bits / 8;
  buffer.host = (char *)buffer.host + first * d.stride * bytes;
  d.min = (int32_t)min;
  d.extent = (int32_t)extent;
}

uint64_t nanosecondsNow() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + time.tv_nsec;
}

uint32_t kernelIndex(const mille_model &model, const mille_kernel *kernel) {
  uint32_t index = 0;
  while (index < model.kernel_count && model.kernels[index] != kernel)
    ++index;
  return index;
}

// Calls a kernel over rows x columns of its out, as abi.h says.
int32_t callKernel(mille_task *task, const mille_stage &stage, bool sequences,
                   int64_t sequence, int64_t sequenceRows, Range rows,
                   Range columns) {
  const mille_kernel &kernel = *stage.kernel;
  mille_buffer buffers[MILLE_MAX_BUFFERS];
  mille_dimension dimensions[MILLE_MAX_BUFFERS][MILLE_MAX_DIMENSIONS];
  void *arguments[1 + MILLE_MAX_BUFFERS + MILLE_MAX_SCALARS];
  void **next = arguments;
  *next++ = &task;
  uint32_t out = kernel.buffer_count - 1;
  for (uint32_t b = 0; b <= out; ++b) {
    mille_buffer &buffer = buffers[b];
    buffer = stage.buffers[b];
    for (int32_t d = 0; d < buffer.dimensions; ++d)
      dimensions[b][d] = buffer.dimension[d];
    buffer.dimension = dimensions[b];
    int row = kernel.row_dimension[b];
    if (row >= 0 && !sequences) {
      cut(buffer, row, rows.first, 0, rows.end - rows.first);
    } else if (row >= 0 && b < out) {
      int64_t own = buffer.dimension[row].extent /
                    task->session->run.batch; // keys may differ from queries
      cut(buffer, row, sequence * own, 0, own + readableRows);
    } else if (row >= 0) {
      cut(buffer, row, sequence * sequenceRows + rows.first, rows.first,
          rows.end - rows.first);
    }
    if (b < out)
      *next++ = &buffer;
  }
  int column = outColumn(kernel);
  if (column >= 0)
    cut(buffers[out], column, columns.first, columns.first,
        columns.end - columns.first);
  for (uint32_t s = 0; s < kernel.scalar_count; ++s)
    *next++ = const_cast<int32_t *>(&stage.scalars[s]);
  *next++ = &buffers[out];

  mille_session &session = *task->session;
  bool many = rows.end - rows.first > (int64_t)kernel.few_rows;
  mille_kernel_function function =
      kernel.functions[session.package->isa * 2 + many];
  task->used = task->top = 0;
  if (!session.profiling)
    return function(arguments);
  uint64_t begin = nanosecondsNow();
  int32_t code = function(arguments);
  uint32_t index = kernelIndex(*session.package->model, &kernel);
  if (index < session.package->model->kernel_count)
    task->nanoseconds[index] += nanosecondsNow() - begin;
  return code;
}

void runTask(void *context, int64_t number, int thread) {
  const Job &job = *static_cast<const Job *>(context);
  mille_session &session = *job.session;
  mille_task *task = &session.tasks[thread];
  int64_t sequence;
  Range rows, columns;
  job.split.task(number, sequence, rows, columns);
  for (int32_t s = 0; s < job.count; ++s) {
    if (session.stopped())
      return;
    const mille_stage &stage = job.stages[s];
    if (job.count > 1)
      columns = {0, outColumns(stage)}; // owned rows are taken whole
    int32_t code = callKernel(task, stage, job.sequences, sequence, job.rows,
                              rows, columns);
    if (code != 0) {
      mille_task_fail(task, code, "kernel %s failed", stage.kernel->name);
      session.failed.change(0, code);
      return;
    }
  }
}

int32_t runJob(Job &job) {
  mille_session &session = *job.session;
  int64_t tasks = job.split.tasks();
  // One thread, or one task: nobody else is asked.
  if (session.threads == 1 || tasks == 1)
    for (int64_t task = 0; task < tasks; ++task)
      runTask(&job, task, 0);
  else
    session.pool.run(runTask, &job, tasks);
  return session.stopped();
}

void count(mille_session &session, const mille_stage &stage, int64_t rows) {
  const mille_kernel &kernel = *stage.kernel;
  uint32_t index = kernelIndex(*session.package->model, &kernel);
  if (index == session.package->model->kernel_count)
    return;
  Counts &counts = session.counts[index];
  counts.calls += 1;
  counts.weightBytes += kernel.bytes_weights;
  uint64_t keys =
      kernel.partition == MILLE_PARTITION_SEQUENCES ? session.run.tokens : 1;
  counts.flops += kernel.flops_per_row * rows * keys;
}
} // namespace

} // namespace mille

using namespace mille;

extern "C" int32_t mille_launch(mille_run *run, const mille_stage *stages,
                                int32_t count, int64_t rows) {
  mille_session &session = *static_cast<Run *>(run)->session;
  if (int32_t code = session.stopped())
    return code;
  if (session.profiling)
    for (int32_t s = 0; s < count; ++s)
      mille::count(session, stages[s], rows);
  Job job = {&session, stages, count, rows, false, {}};
  if (count > 1 && splitOwned(stages, count, rows, session.threads, job.split))
    return runJob(job);
  for (int32_t s = 0; s < count; ++s) {
    const mille_stage &stage = stages[s];
    const mille_kernel &kernel = *stage.kernel;
    job.stages = &stage;
    job.count = 1;
    job.sequences = kernel.partition == MILLE_PARTITION_SEQUENCES;
    if (job.sequences) {
      const mille_buffer &out = stage.buffers[kernel.buffer_count - 1];
      job.rows = out.dimension[outRow(kernel)].extent / run->batch;
      job.split = splitSequences(kernel, run->batch, job.rows,
                                 outColumns(stage), session.threads);
    } else {
      job.rows = rows;
      job.split = splitRows(kernel, rows, outColumns(stage), session.threads);
    }
    if (int32_t code = runJob(job))
      return code;
  }
  return 0;
}
