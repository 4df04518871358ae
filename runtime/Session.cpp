// Creates, runs, cancels and closes sessions.
// Must not look into kernels or partition work; Launch does.
#include "runtime/Session.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

using mille::Bytes;
using mille::Counts;

using ll = long long;
using ull = unsigned long long;

uint64_t mille::paddedRows(uint64_t rows) { return (rows + 23) / 16 * 16; }

bool mille::countElements(const mille_tensor_info &info, int64_t batch,
                          int64_t tokens, uint64_t &elements) {
  elements = 1;
  for (uint32_t d = 0; d < info.rank; ++d) {
    int64_t size = info.shape[d];
    if (size == MILLE_BATCH)
      size = batch;
    else if (size == MILLE_TOKENS)
      size = tokens;
    if (!multiply(elements, (uint64_t)size, elements))
      return false;
  }
  return true;
}

// Called twice: with no slab it sums sizes, with one it places pointers.
void mille_session::layOut(Bytes &sum) {
  const mille_model &model = *package->model;
  auto at = [&](uint64_t offset) { return slab ? slab + offset : nullptr; };
  tasks = (mille_task *)at(sum.place(threads, sizeof(mille_task)));
  defaults = (void **)at(sum.place(model.input_count, sizeof(void *)));
  inputs = (void **)at(sum.place(model.input_count, sizeof(void *)));
  counts = (Counts *)at(sum.place(model.kernel_count, sizeof(Counts)));
  if (slab)
    memset(slab, 0, sum.value);

  uint64_t scratch = 0;
  sum.fits = sum.fits &&
             mille::multiply(maxTokens, model.scratch_bytes_per_token, scratch);
  Bytes each;
  // A block's bookkeeping, for 16 at a time.
  each.add(scratch).add(model.scratch_bytes).add(16 * 128);
  each.value = (each.value + 63) & ~(uint64_t)63;
  sum.fits = sum.fits && each.fits;
  for (int thread = 0; thread < threads; ++thread) {
    uint64_t times = sum.place(model.kernel_count, sizeof(uint64_t));
    uint64_t own = sum.place(1, each.value);
    if (!slab)
      continue;
    tasks[thread] = {this, at(own), each.value, 0, 0, (uint64_t *)at(times)};
    memset(at(times), 0, model.kernel_count * sizeof(uint64_t));
  }
  for (uint32_t i = 0; i < model.input_count; ++i) {
    if (model.inputs[i].fallback == MILLE_REQUIRED)
      continue;
    uint64_t elements = 0;
    sum.fits = sum.fits && mille::countElements(model.inputs[i], maxBatch,
                                                maxTokens, elements);
    uint64_t offset = sum.place(elements, 4);
    if (slab)
      defaults[i] = at(offset);
  }
  uint64_t rows = 0;
  sum.fits = sum.fits && mille::multiply(maxBatch, maxTokens, rows) &&
             rows < INT32_MAX - 64;
  arena = at(sum.place(mille::paddedRows(rows), model.arena_bytes_per_row));
}

mille_status mille_session::create(mille_package &of, int64_t batch,
                                   int64_t tokens, int count) {
  package = &of;
  maxBatch = batch;
  maxTokens = tokens;
  threads = count;
  Bytes sum;
  layOut(sum);
  if (!sum.fits)
    return of.message.set(MILLE_TOO_LARGE,
                          "max_batch %lld times max_tokens %lld is more than "
                          "memory or %d rows can hold",
                          (ll)batch, (ll)tokens, INT32_MAX - 65);
  bytes = sum.value + sizeof(mille_session);
  slab = (char *)of.memory.allocate(of.memory.user, sum.value, 64);
  if (!slab)
    return of.message.set(MILLE_OUT_OF_MEMORY,
                          "a session of batch %lld and %lld tokens on %d "
                          "threads needs %llu bytes but memory was refused",
                          (ll)batch, (ll)tokens, count, (ull)sum.value);
  Bytes placed;
  layOut(placed);
  fillDefaults();
  if (int error = threads > 1 ? pool.start(threads) : 0) {
    char text[128];
    return of.message.set(MILLE_OUT_OF_MEMORY, "cannot start %d threads: %s",
                          count, strerror_r(error, text, sizeof text));
  }
  run.arena = arena;
  run.weights = of.weights.tensors;
  run.table = of.weights.table;
  run.inputs = inputs;
  run.session = this;
  return MILLE_OK;
}

void mille_session::destroy() {
  pool.stop();
  mille_package *from = package;
  mille::Memory memory = from->memory;
  if (slab)
    memory.release(memory.user, slab);
  memory.release(memory.user, this);
  from->leave();
}

int32_t mille_session::stopped() const {
  if (int32_t code = failed.acquire())
    return code;
  return cancelled.acquire() ? (int32_t)MILLE_CANCELLED : 0;
}

static int cpusOfProcess() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  int count = CPU_COUNT(&set);
  return count < 1 ? 1 : count < mille::maxThreads ? count : mille::maxThreads;
}

extern "C" {

mille_status mille_session_create(mille_package *package, int64_t max_batch,
                                  int64_t max_tokens, int threads,
                                  mille_session **session) {
  if (session)
    *session = nullptr;
  if (!package)
    return MILLE_INVALID_ARGUMENT;
  mille::Message &message = package->message;
  if (!session)
    return message.set(MILLE_INVALID_ARGUMENT, "session is null");
  if (max_batch < 1 || max_tokens < 1)
    return message.set(MILLE_INVALID_ARGUMENT,
                       "max_batch is %lld and max_tokens %lld but both must be "
                       "at least 1",
                       (ll)max_batch, (ll)max_tokens);
  if (threads < 0 || threads > mille::maxThreads)
    return message.set(MILLE_INVALID_ARGUMENT,
                       "threads is %d but must be 0 to %d", threads,
                       mille::maxThreads);
  const mille_model &model = *package->model;
  if (model.max_tokens && max_tokens > model.max_tokens)
    return message.set(MILLE_TOO_LARGE,
                       "max_tokens is %lld but model %s has positions for %u",
                       (ll)max_tokens, model.name, model.max_tokens);
  mille_session *made = package->memory.make<mille_session>();
  if (!made)
    return message.set(MILLE_OUT_OF_MEMORY,
                       "a session needs %zu bytes but memory was refused",
                       sizeof(mille_session));
  package->owners.add(1);
  mille_status status = made->create(*package, max_batch, max_tokens,
                                     threads ? threads : cpusOfProcess());
  if (status != MILLE_OK) {
    made->destroy();
    return status;
  }
  package->log("session of %s: batch %lld, %lld tokens, %d threads, %llu bytes",
               model.name, (ll)max_batch, (ll)max_tokens, made->threads,
               (ull)made->bytes);
  *session = made;
  return MILLE_OK;
}

mille_status mille_session_close(mille_session *session) {
  if (session)
    session->destroy();
  return MILLE_OK;
}

mille_status mille_session_run(mille_session *session, int64_t batch,
                               int64_t tokens, const void *const *inputs,
                               float *const *outputs) {
  if (!session)
    return MILLE_INVALID_ARGUMENT;
  // The message belongs to the run that is under way.
  if (!session->running.change(0, 1))
    return MILLE_INVALID_ARGUMENT;
  session->cancelled.store(0);
  session->failing.store(0);
  session->failed.store(0);
  mille_status status = session->checkRun(batch, tokens, inputs, outputs);
  if (status == MILLE_OK) {
    session->takeInputs(batch, tokens, inputs);
    mille::Run &run = session->run;
    run.batch = batch;
    run.tokens = tokens;
    run.padded_rows = mille::paddedRows(batch * tokens);
    run.outputs = outputs;
    int32_t code = session->package->model->forward(&run);
    if (code == MILLE_CANCELLED)
      status = session->message.set(MILLE_CANCELLED, "the run was cancelled");
    else if (code != 0)
      status = session->message.set(MILLE_INTERNAL, "%s (code %d)",
                                    session->failing.load()
                                        ? session->failure.text
                                        : "the model's code failed",
                                    code);
  }
  session->running.store(0);
  return status;
}

mille_status mille_session_cancel(mille_session *session) {
  if (!session)
    return MILLE_INVALID_ARGUMENT;
  session->cancelled.store(1);
  return MILLE_OK;
}

const char *mille_session_message(const mille_session *session) {
  return session ? session->message.text : "session is null";
}

mille_status mille_session_threads(const mille_session *session, int *threads) {
  if (!session || !threads)
    return MILLE_INVALID_ARGUMENT;
  *threads = session->threads;
  return MILLE_OK;
}

mille_status mille_session_memory(const mille_session *session, size_t *bytes) {
  if (!session || !bytes)
    return MILLE_INVALID_ARGUMENT;
  *bytes = session->bytes;
  return MILLE_OK;
}

mille_status mille_session_profile(mille_session *session, int enable) {
  if (!session)
    return MILLE_INVALID_ARGUMENT;
  uint32_t kernels = session->package->model->kernel_count;
  if (enable && !session->profiling) {
    memset(session->counts, 0, kernels * sizeof(Counts));
    for (int thread = 0; thread < session->threads; ++thread)
      memset(session->tasks[thread].nanoseconds, 0, kernels * sizeof(uint64_t));
  }
  session->profiling = enable != 0;
  return MILLE_OK;
}

mille_status mille_session_kernel_count(const mille_session *session,
                                        size_t *count) {
  if (!session || !count)
    return MILLE_INVALID_ARGUMENT;
  *count = session->package->model->kernel_count;
  return MILLE_OK;
}

mille_status mille_session_kernel(const mille_session *session, size_t index,
                                  mille_profile *profile) {
  if (!session || !profile || index >= session->package->model->kernel_count)
    return MILLE_INVALID_ARGUMENT;
  const Counts &counts = session->counts[index];
  *profile = {session->package->model->kernels[index]->name, counts.calls, 0,
              counts.flops, counts.weightBytes};
  for (int thread = 0; thread < session->threads; ++thread)
    profile->nanoseconds += session->tasks[thread].nanoseconds[index];
  return MILLE_OK;
}
}
