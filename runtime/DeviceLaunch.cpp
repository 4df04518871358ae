// Launches on a device: each op is one call over all of its rows, or one for
// each sequence where padding was removed. Must not compute, and must not wait
// for the device.
#include "runtime/Backend.h"
#include "runtime/StageRows.h"

namespace mille {
namespace {

// The buffers of a call, whole or of one sequence.
struct Call {
  mille_buffer buffers[MILLE_MAX_BUFFERS];
  mille_dimension dimensions[MILLE_MAX_BUFFERS][MILLE_MAX_DIMENSIONS];
  int32_t tokens = -1; // tokens of the one sequence; -1: as the stage says

  Call(const mille_stage &stage) {
    for (uint32_t b = 0; b < stage.kernel->buffer_count; ++b) {
      buffers[b] = stage.buffers[b];
      for (int32_t d = 0; d < buffers[b].dimensions; ++d)
        dimensions[b][d] = buffers[b].dimension[d];
      buffers[b].dimension = dimensions[b];
    }
  }
  void begin(uint32_t b, int dimension, int64_t first, int64_t extent) {
    mille_dimension &d = dimensions[b][dimension];
    buffers[b].host =
        (char *)buffers[b].host + first * d.stride * (buffers[b].type_bits / 8);
    d.extent = (int32_t)extent;
  }
};

// The out of a kernel of sequences is (column in head, row, head, sequence).
void splitSequences(const mille_stage &stage, Call &call) {
  uint32_t out = stage.kernel->buffer_count - 1;
  mille_dimension *d = call.dimensions[out];
  int64_t sequences = d[1].extent / stage.sequence_rows;
  d[1].extent = (int32_t)stage.sequence_rows;
  d[3] = {0, (int32_t)sequences, (int32_t)(d[1].stride * stage.sequence_rows),
          0};
  call.buffers[out].dimensions = 4;
}

int32_t callVariant(mille_session &session, const mille_stage &stage,
                    Call &call, uint32_t many) {
  const mille_kernel &kernel = *stage.kernel;
  mille_task *task = &session.tasks[0];
  task->variant = kernelIndex(*session.package->model, &kernel) * 2 + many;
  void *arguments[2 + MILLE_MAX_BUFFERS + MILLE_MAX_SCALARS];
  void **next = arguments;
  *next++ = &task;
  uint32_t out = kernel.buffer_count - 1;
  for (uint32_t b = 0; b < out; ++b)
    *next++ = &call.buffers[b];
  for (uint32_t s = 0; s < kernel.scalar_count; ++s)
    *next++ = call.tokens >= 0 && (stage.token_scalars >> s & 1)
                  ? &call.tokens
                  : const_cast<int32_t *>(&stage.scalars[s]);
  if (task->experts)
    *next++ = const_cast<mille_buffer *>(&task->experts->starts);
  if (task->past)
    *next++ = const_cast<mille_buffer *>(task->past);
  *next++ = &call.buffers[out];
  task->used = task->top = 0;
  int32_t code = kernel.functions[session.isa * 2 + many](arguments);
  if (code != 0) {
    mille_task_fail(task, code, "kernel %s failed", kernel.name);
    session.failed.change(0, code);
  }
  return session.stopped();
}

// Kernels of many rows use local memory. Planning calls both classes where a
// run may take either.
int32_t call(mille_session &session, const mille_stage &stage, Call &call,
             int64_t rows) {
  const mille_kernel &kernel = *stage.kernel;
  const mille_kernel_function *of = kernel.functions + session.isa * 2;
  const LocalMemory local = session.part->device->local;
  bool many = local == LocalMemory::always || (local == LocalMemory::manyRows &&
                                               rows > (int64_t)kernel.few_rows);
  if (session.planning && local == LocalMemory::manyRows && of[0] != of[1])
    if (int32_t code = callVariant(session, stage, call, !many))
      return code;
  return callVariant(session, stage, call, of[0] == of[1] ? 1 : many);
}

// One call computes the rows of all experts, because only the device knows
// which rows belong to which expert. The average number of rows per expert
// chooses the row class.
int32_t launchExperts(mille_session &session, const mille_stage &stage) {
  const mille_kernel &kernel = *stage.kernel;
  Call all(stage);
  mille_dimension numbers = {0, (int32_t)(stage.entries + 1), 1, 0};
  Experts experts = {};
  experts.starts = {
      0,      nullptr, (char *)const_cast<int32_t *>(stage.starts),
      0,      0,       32,
      1,      1,       &numbers,
      nullptr};
  experts.buffers = all.buffers;
  experts.count = kernel.buffer_count;
  experts.entries = stage.entries;
  experts.rows = outRows(stage);
  for (uint32_t b = 0; b < kernel.buffer_count; ++b) {
    mille_buffer &buffer = all.buffers[b];
    const int row = kernel.row_dimension[b];
    const int64_t bytes = buffer.type_bits / 8;
    if (stage.stacked >> b & 1)
      experts.entryBytes[b] =
          buffer.dimension[--buffer.dimensions].stride * bytes;
    else if (row >= 0)
      experts.rowBytes[b] = buffer.dimension[row].stride * bytes;
  }
  session.tasks[0].experts = &experts;
  const int32_t code = call(session, stage, all, experts.rows / stage.entries);
  session.tasks[0].experts = nullptr;
  return code;
}

// One call computes all sequences, whatever their states hold: kernels read it,
// so that a run is the same commands at each step.
int32_t launchWithStates(mille_session &session, const mille_stage &stage) {
  Call whole(stage);
  splitSequences(stage, whole);
  const uint32_t out = stage.kernel->buffer_count - 1;
  mille_dimension sequences = {0, whole.dimensions[out][3].extent, 1, 0};
  const mille_buffer past = {
      0,      nullptr, (char *)const_cast<int32_t *>(stage.past),
      0,      0,       32,
      1,      1,       &sequences,
      nullptr};
  session.tasks[0].past = &past;
  const int32_t code = call(session, stage, whole, outRows(stage));
  session.tasks[0].past = nullptr;
  return code;
}

// If padding was removed, sequences differ in length, and each has a call of
// its own.
int32_t launchSequences(mille_session &session, const mille_stage &stage) {
  const mille_kernel &kernel = *stage.kernel;
  const uint32_t out = kernel.buffer_count - 1;
  const Sequences tokens = sequencesOf(&session.run, MILLE_RUN_TOKENS);
  const Sequences own = sequencesOfOut(stage, tokens);
  for (int64_t s = 0; s < own.batch; ++s) {
    Call one(stage);
    for (uint32_t b = 0; b <= out; ++b)
      if (kernel.row_dimension[b] >= 0) {
        Sequences of = sequencesIn(stage, b, tokens, own.batch);
        one.begin(b, kernel.row_dimension[b], of.first(s), of.rows(s));
      }
    one.dimensions[out][3] = {0, 1, 0, 0};
    one.buffers[out].dimensions = 4;
    one.tokens = (int32_t)sequencesOf(&session.run, MILLE_RUN_TOKENS).rows(s);
    if (int32_t code = call(session, stage, one, own.rows(s)))
      return code;
  }
  return 0;
}

} // namespace

int32_t launchOnDevice(mille_session &session, const mille_stage *stages,
                       int32_t count) {
  for (int32_t s = 0; s < count; ++s) {
    const mille_stage &stage = stages[s];
    if (stage.starts) {
      if (int32_t code = launchExperts(session, stage))
        return code;
      continue;
    }
    bool sequences = stage.kernel->partition == MILLE_PARTITION_SEQUENCES;
    if (sequences && stage.past) {
      if (int32_t code = launchWithStates(session, stage))
        return code;
      continue;
    }
    if (sequences && stage.token_buffers && session.memory->padding.found) {
      if (int32_t code = launchSequences(session, stage))
        return code;
      continue;
    }
    Call whole(stage);
    if (sequences)
      splitSequences(stage, whole);
    if (int32_t code = call(session, stage, whole, outRows(stage)))
      return code;
  }
  return 0;
}

HostStep::HostStep(mille_run *run, const void *out, int64_t rows,
                   int64_t rowFloats)
    : session(sessionOf(run)), out(out), bytes((uint64_t)rows * rowFloats * 4) {
  if (session.planning)
    give();
}

void HostStep::give() {
  if (session.part)
    session.part->device->backend->give(session, out, bytes);
}

} // namespace mille

using mille::DevicePart;

static const mille_backend &backendOf(mille_task *task) {
  return *task->session->part->device->backend;
}

static const char *const moduleNames[] = {"OpenCL C", "PTX", "a cubin"};

static int32_t refuseModule(mille_task &task, uint32_t kind,
                            const mille_backend &backend) {
  uint32_t taken = 0;
  while (!(backend.moduleKinds & 1u << taken))
    ++taken;
  task.session->failed.change(0, MILLE_INTERNAL);
  if (kind >= sizeof moduleNames / sizeof *moduleNames)
    return mille_task_fail(&task, MILLE_INTERNAL,
                           "a kernel's module is of kind %u but %s takes %s",
                           kind, backend.name, moduleNames[taken]);
  return mille_task_fail(&task, MILLE_INTERNAL,
                         "a kernel's module is %s but %s takes %s",
                         moduleNames[kind], backend.name, moduleNames[taken]);
}

extern "C" {
int32_t mille_device_module(mille_task *task, uint32_t kind, const void *bytes,
                            size_t size) {
  const mille_backend &backend = backendOf(task);
  if (kind < 32 && backend.moduleKinds & 1u << kind)
    return backend.module(*task, {kind, bytes, size});
  return refuseModule(*task, kind, backend);
}
int32_t mille_device_run(mille_task *task, const mille_dispatch *dispatch) {
  return backendOf(task).dispatch(*task, *dispatch);
}
int32_t mille_device_launch(mille_task *task, const mille_device_kernel *kernel,
                            void *const *arguments) {
  const mille_backend &backend = backendOf(task);
  if (backend.launch)
    return backend.launch(*task, *kernel, arguments);
  return refuseModule(
      *task, kernel->cubin ? MILLE_MODULE_CUBIN : MILLE_MODULE_PTX, backend);
}
int32_t mille_device_allocate(mille_task *task, mille_buffer *buffer) {
  return backendOf(task).allocate(*task, *buffer);
}
int32_t mille_device_release(mille_task *task, mille_buffer *buffer) {
  backendOf(task).release(*task, *buffer);
  return 0;
}
}
