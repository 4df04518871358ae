// Runs a launch: cuts its buffers for each task and calls kernels.
// Must not allocate, and must not care in which order tasks run.
#include "runtime/Backend.h"
#include "runtime/LaunchParts.h"

namespace mille {

namespace {
// Calls a kernel over its share of the out.
int32_t callKernel(mille_task *task, const Job &job, const mille_stage &stage,
                   const Share &share) {
  const mille_kernel &kernel = *stage.kernel;
  Call call(task);
  call.addInputs(job, stage, share);
  call.addShifts(job, share);
  call.addScalars(job, stage, share);
  call.addOut(job, stage, share);
  // Where keys may be taken apart, the last rows of many are not few.
  bool many =
      job.apart || share.rows.end - share.rows.first > (int64_t)kernel.few_rows;
  return call.run(kernel, kernel.functions[task->session->isa * 2 + many]);
}

// Whether a job is of one stage of experts.
bool isOfExperts(const Job &job) {
  return job.stages->starts && job.count == 1;
}
// Or of one of heads, each of which is cut as one product.
bool isOfHeads(const Job &job) {
  return isByHead(*job.stages) && job.count == 1;
}

// Tasks of a stage with a stacked out are tiles of each entry that has rows.
Share shareOf(const Job &job, int64_t number) {
  const mille_stage &stage = *job.stages;
  const int64_t each = job.split.tasks();
  Share share;
  if (isOfExperts(job) && !isOutStacked(stage)) {
    job.experts.task(number, share.sequence, share.rows, share.columns);
  } else if (isOfExperts(job)) {
    job.split.task(number % each, share.sequence, share.rows, share.columns);
    share.sequence = usedExpert(stage.starts, number / each);
  } else if (isOfHeads(job)) {
    int64_t all; // rows are cut together
    job.split.task(number % each, all, share.rows, share.columns);
    share.sequence = number / each;
  } else {
    job.split.task(number, share.sequence, share.rows, share.columns);
  }
  return share;
}

int64_t tasksOf(const Job &job) {
  const mille_stage &stage = *job.stages;
  const int64_t each = job.split.tasks();
  if (isOfHeads(job))
    return stage.entries * each;
  if (!isOfExperts(job))
    return each;
  return isOutStacked(stage) ? usedExperts(stage.starts, stage.entries) * each
                             : job.experts.tasks();
}

void runTask(void *context, int64_t number, int thread) {
  const Job &job = *static_cast<const Job *>(context);
  mille_session &session = *job.session;
  mille_task *task = &session.tasks[thread];
  Share share = shareOf(job, number);
  if (share.rows.first == share.rows.end)
    return; // a sequence with fewer rows than others
  if (job.apart && isOfFew(job, *job.stages, share.sequence))
    return;
  for (int32_t s = 0; s < job.count; ++s) {
    if (session.stopped())
      return;
    const mille_stage &stage = job.stages[s];
    if (job.count > 1)
      share.columns = {0, outColumns(stage)}; // all columns of the task's rows
    int32_t code = callKernel(task, job, stage, share);
    if (code != 0) {
      mille_task_fail(task, code, "kernel %s failed", stage.kernel->name);
      session.failed.change(0, code);
      return;
    }
  }
}

int32_t runJob(Job &job) {
  mille_session &session = *job.session;
  session.share(runTask, &job, tasksOf(job));
  return session.stopped();
}

// The second operand of a kernel of sequences has a row per key.
int64_t keysOf(const Job &job, const mille_stage &stage, int64_t sequence) {
  const mille_kernel &kernel = *stage.kernel;
  if (stage.past)
    return stateKeys(job, stage, sequence);
  bool own = kernel.buffer_count > 2 && kernel.row_dimension[1] >= 0;
  return own ? sequencesIn(stage, 1, job.tokens, job.split.own.batch)
                   .rows(sequence)
             : job.split.own.rows(sequence);
}

int64_t longestKeys(const Job &job, const mille_stage &stage) {
  int64_t longest = 0;
  for (int64_t s = 0; s < job.split.own.batch; ++s) {
    int64_t keys = keysOf(job, stage, s);
    longest = keys > longest ? keys : longest;
  }
  return longest;
}

void splitStage(Job &job, const mille_stage &stage) {
  const mille_kernel &kernel = *stage.kernel;
  job.split.own = sequencesOfOut(stage, job.tokens);
  job.split = splitSequences(kernel, job.split.own, longestKeys(job, stage),
                             outColumns(stage), job.session->threads);
}

// Pairs of a query and a key.
uint64_t pairsOf(Job job, const mille_stage &stage) {
  job.split.own = sequencesOfOut(stage, job.tokens);
  uint64_t pairs = 0;
  for (int64_t s = 0; s < job.split.own.batch; ++s)
    pairs += job.split.own.rows(s) * keysOf(job, stage, s);
  return pairs;
}

void count(const Job &job, const mille_stage &stage) {
  mille_session &session = *job.session;
  const mille_kernel &kernel = *stage.kernel;
  uint32_t index = kernelIndex(*session.package->model, &kernel);
  if (index == session.package->model->kernel_count)
    return;
  Counts &counts = session.counts[index];
  counts.calls += 1;
  int64_t entries = 1;
  // Only the device knows which experts have rows: all that may.
  if (stage.starts && session.part)
    entries = stage.entries < outRows(stage) ? stage.entries : outRows(stage);
  else if (stage.starts)
    entries = usedExperts(stage.starts, stage.entries);
  else if (isByHead(stage))
    entries = stage.entries;
  counts.weightBytes += kernel.bytes_weights * entries;
  counts.flops +=
      kernel.flops_per_row * (isByHead(stage) ? entries : 1) *
      (kernel.partition == MILLE_PARTITION_SEQUENCES ? pairsOf(job, stage)
                                                     : outRows(stage));
}

bool anyStack(const mille_stage *stages, int32_t count) {
  for (int32_t s = 0; s < count; ++s)
    if (stages[s].entries)
      return true;
  return false;
}

// Kernels that work on sequences index elements with 32 bits. Returns
// MILLE_TOO_LARGE if the rows of a sequence need more.
int32_t refuseTooLong(const Job &job, const mille_stage &stage) {
  const mille_kernel &kernel = *stage.kernel;
  for (uint32_t b = 0; b < kernel.buffer_count; ++b) {
    int row = kernel.row_dimension[b];
    if (row < 0)
      continue;
    int64_t stride = stage.buffers[b].dimension[row].stride;
    int64_t rows =
        sequencesIn(stage, b, job.tokens, job.split.own.batch).longest();
    if (stride > 0 && rows + readableRows > INT32_MAX / stride)
      return mille_task_fail(job.session->tasks, MILLE_TOO_LARGE,
                             "kernel %s takes %lld rows of %lld numbers in one "
                             "sequence but counts to %d: give it fewer tokens",
                             kernel.name, (long long)rows, (long long)stride,
                             INT32_MAX);
  }
  return 0;
}

// While a kernel reads windows: their rows in its buffers of keys and values,
// and, in the mask, a first key that shows, since the kernel counts stretches
// from there. No query of the run sees that key.
class Window {
public:
  Window(Job &job, const mille_stage &stage)
      : windows(job.session->windows), batch(job.tokens.batch) {
    job.dropped = nullptr;
    if (!stage.past || !isWindow(*job.session, stage.buffers[firstHeld].host))
      return;
    job.dropped = windows.first;
    for (uint32_t b = firstHeld; b <= lastHeld; ++b)
      rowsOf(stage, b) = (int32_t)(batch * windows.rows);
    for (uint32_t b = lastHeld + 1; b + 1 < stage.kernel->buffer_count; ++b)
      if (stage.kernel->row_dimension[b] >= 0 &&
          stage.buffers[b].type_code == MILLE_CODE_INT) {
        mask = (int32_t *)stage.buffers[b].host;
        rows = rowsOf(stage, b) / batch;
      }
    for (int64_t s = 0; mask && s < batch; ++s)
      if (int32_t &shown = firstOf(s); windows.first[s] && !shown) {
        windows.hidden[s] = true;
        shown = 1;
      }
  }
  ~Window() {
    for (int64_t s = 0; mask && s < batch; ++s)
      if (windows.hidden[s]) {
        windows.hidden[s] = false;
        firstOf(s) = 0;
      }
  }

private:
  static int32_t &rowsOf(const mille_stage &stage, uint32_t b) {
    const int row = stage.kernel->row_dimension[b];
    return stage.buffers[b].dimension[row].extent;
  }
  int32_t &firstOf(int64_t sequence) {
    return mask[sequence * rows + windows.first[sequence]];
  }

  const StateWindows &windows;
  const int64_t batch;
  int64_t rows = 0; // of a sequence's mask
  int32_t *mask = nullptr;
};

// Finds whose memory the panels are in that a kernel of states reads.
void findShifts(Job &job, const mille_stage &stage) {
  const mille_session &session = *job.session;
  job.shifts = nullptr;
  if (!stage.kernel->panels || !stage.past)
    return;
  const StateRuns *runs = runsOf(session, stage.buffers[firstHeld].host);
  job.shifts = runs ? runs->shifts : session.unmoved;
  job.panels = runs ? runs->panelsApart() : session.unmovedPanels;
  job.panelsApart = runs ? runs->panelsApart() : 0;
}

int32_t runStage(Job &job, const mille_stage &stage) {
  const mille_kernel &kernel = *stage.kernel;
  int threads = job.session->threads;
  int64_t columns = outColumns(stage);
  const Window window(job, stage);
  findShifts(job, stage);
  job.stages = &stage;
  job.count = 1;
  job.sequences = kernel.partition == MILLE_PARTITION_SEQUENCES;
  job.rows = outRows(stage);
  job.apart = job.sequences && isApart(*job.session, kernel);
  if (job.sequences)
    splitStage(job, stage);
  else if (isOutStacked(stage))
    job.split = splitEntries(kernel, stage.starts, stage.entries, job.rows,
                             columns, threads);
  else if (stage.starts)
    job.experts =
        splitExperts(kernel, stage.starts, stage.entries, columns, threads);
  else
    job.split = splitRows(kernel, job.rows, columns, threads);
  if (job.sequences)
    if (int32_t code = refuseTooLong(job, stage))
      return code;
  if (outRow(kernel) < 0)
    job.split.rowBlocks = 1; // it reads rows by their numbers in the run
  if (job.apart) {
    Few few = fewOf(job, stage);
    int32_t code = few.any ? runParts(job, stage) : 0;
    if (code || few.all)
      return code;
  }
  return runJob(job);
}

int32_t watchStages(mille_session &session, const mille_stage *stages,
                    int32_t count) {
  for (int32_t s = 0; session.watch && s < count; ++s)
    if (int32_t code = session.watch(session.watchContext, stages[s]))
      return code;
  return 0;
}
} // namespace

} // namespace mille

using namespace mille;

extern "C" int32_t mille_launch(mille_run *run, const mille_stage *stages,
                                int32_t count, int64_t rows) {
  mille_session &session = sessionOf(run);
  if (int32_t code = session.stopped())
    return code;
  Job job = {&session, stages, count, rows,
             false,    {},     {},    sequencesOf(run, MILLE_RUN_TOKENS),
             false};
  if (session.profiling)
    for (int32_t s = 0; s < count; ++s)
      mille::count(job, stages[s]);
  if (session.part)
    return mille::launchOnDevice(session, stages, count);
  const mille_isa &isa = session.package->model->isas[session.isa];
  // Stages of experts have other rows, and those of heads other columns: no
  // task could take its rows through them.
  if (count > 1 && !anyStack(stages, count) &&
      splitOwned(stages, count, rows, session.threads,
                 isa.features & MILLE_CPU_AMX, job.split)) {
    const int32_t code = runJob(job);
    return code ? code : watchStages(session, stages, count);
  }
  for (int32_t s = 0; s < count; ++s) {
    if (int32_t code = runStage(job, stages[s]))
      return code;
    if (int32_t code = watchStages(session, stages + s, 1))
      return code;
  }
  return 0;
}
