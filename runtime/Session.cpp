// Creates, runs, cancels and closes sessions.
// Must not look into kernels or partition work; Launch does.
#include "runtime/Backend.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <string.h>

using mille::Bytes;
using mille::Counts;

using ll = long long;
using ull = unsigned long long;

// Called twice: without a slab it sums sizes, with a slab it places pointers.
void mille_session::layOut(Bytes &sum) {
  const mille_model &model = *package->model;
  auto at = [&](uint64_t offset) { return slab ? slab + offset : nullptr; };
  tasks = (mille_task *)at(sum.place(threads, sizeof(mille_task)));
  defaults = (void **)at(sum.place(model.input_count, sizeof(void *)));
  uint32_t tensors = model.input_count > model.output_count
                         ? model.input_count
                         : model.output_count; // planning has no outputs yet
  inputs = (void **)at(sum.place(tensors, sizeof(void *)));
  counts = (Counts *)at(sum.place(model.kernel_count, sizeof(Counts)));
  scales = (double *)at(sum.place(model.schedule_count, sizeof(double)));
  if (slab)
    memset(slab, 0, sum.value);
  for (uint32_t i = 0; slab && i < model.schedule_count; ++i)
    scales[i] = NAN;

  uint64_t scratch = 0;
  sum.fits =
      sum.fits && mille::multiply(mille::longestSequence(model, most),
                                  model.scratch_bytes_per_token, scratch);
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
    sum.fits =
        sum.fits && mille::countElements(model.inputs[i], most, elements);
    uint64_t offset = sum.place(elements, 4);
    if (slab)
      defaults[i] = at(offset);
  }
  padding.layOut(model, most, slab, sum);
  uint64_t rows = 0;
  sum.fits = sum.fits && mille::paddedRows(model, most, rows);
  arena = at(sum.place(rows, model.arena_bytes_per_row));
}

mille_status mille_session::create(mille_package &of, const mille::Sizes &sizes,
                                   int count, const char *device) {
  package = &of;
  most = sizes;
  threads = count;
  mille::SizesText text(*of.model, sizes);
  Bytes sum;
  layOut(sum);
  if (!sum.fits)
    return of.message().set(
        MILLE_TOO_LARGE,
        "a session of %s is more than memory or %d rows can "
        "hold",
        text.text, INT32_MAX - 65);
  bytes = sum.value + sizeof(mille_session);
  slab = (char *)of.memory.allocate(of.memory.user, sum.value, 64);
  if (!slab)
    return of.message().set(
        MILLE_OUT_OF_MEMORY,
        "a session of %s on %d threads needs %llu bytes but "
        "memory was refused",
        text.text, count, (ull)sum.value);
  Bytes placed;
  layOut(placed);
  fillDefaults();
  if (int error = threads > 1 ? pool.start(threads) : 0) {
    char text[128];
    return of.message().set(MILLE_OUT_OF_MEMORY, "cannot start %d threads: %s",
                            count, strerror_r(error, text, sizeof text));
  }
  run.arena = arena;
  run.weights = of.weights.tensors;
  run.table = of.weights.table;
  run.inputs = inputs;
  run.session = this;
  return chooseCode(device);
}

void mille_session::destroy() {
  pool.stop();
  if (part)
    part->device->backend->leave(*this);
  mille_package *from = package;
  mille::Memory memory = from->memory;
  if (slab)
    memory.release(memory.user, slab);
  memory.release(memory.user, this);
  from->leave();
}

void mille_session::share(mille::Pool::Function function, void *context,
                          int64_t count) {
  if (threads > 1 && count > 1)
    pool.run(function, context, count);
  else
    for (int64_t task = 0; task < count; ++task)
      function(context, task, 0);
}

int32_t mille_session::stopped() const {
  if (int32_t code = failed.acquire())
    return code;
  return cancelled.acquire() ? (int32_t)MILLE_CANCELLED : 0;
}

void mille_session::setSizes(const mille::Sizes &sizes) {
  run.batch = sizes.batch;
  run.tokens = sizes.tokens;
  run.decoder_tokens = sizes.decoderTokens;
  // A size that is in no shape may be any number.
  bool any = mille::hasSize(*package->model, MILLE_TOKENS);
  run.token_rows = any ? sizes.batch * sizes.tokens : 0;
  uint64_t rows = 0;
  mille::paddedRows(*package->model, sizes,
                    rows); // not more than the session's
  run.padded_rows = (int64_t)rows;
}

int32_t mille_session::compute(const mille::Sizes &sizes) {
  if (!part)
    return package->model->forward(&run);
  const mille_backend &backend = *part->device->backend;
  int32_t code = backend.begin(*this, sizes);
  if (code == 0)
    code = package->model->forward(&run);
  // The device may not touch the outputs once the run is over.
  int32_t last = backend.finish(*this);
  return code ? code : last;
}

static int cpusOfProcess() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  int count = CPU_COUNT(&set);
  return count < 1 ? 1 : count < mille::maxThreads ? count : mille::maxThreads;
}

// A newer application may know more sizes than this runtime, an older one
// fewer.
static mille_status takeSizes(const mille_sizes *given, const char *name,
                              mille::Sizes &sizes, mille::Message &message) {
  mille_sizes mine = {};
  if (!given)
    return message.set(MILLE_INVALID_ARGUMENT, "%s is null", name);
  if (given->size < sizeof(size_t))
    return message.set(MILLE_INVALID_ARGUMENT,
                       "%s.size is %zu but must be sizeof(mille_sizes): start "
                       "from MILLE_SIZES_INIT",
                       name, given->size);
  memcpy(&mine, given, given->size < sizeof mine ? given->size : sizeof mine);
  sizes = {mine.batch, mine.tokens, mine.decoder_tokens};
  return MILLE_OK;
}

// Sizes that a session may be made for.
static mille_status checkMost(const mille_model &model,
                              const mille::Sizes &most,
                              mille::Message &message) {
  mille_status status = mille::checkSizes(model, most, "max_", message);
  const struct {
    int64_t extent;
    uint32_t positions;
  } limits[] = {{MILLE_TOKENS, model.max_tokens},
                {MILLE_DECODER_TOKENS, model.max_decoder_tokens}};
  for (const auto &limit : limits)
    if (status == MILLE_OK && limit.positions &&
        mille::hasSize(model, limit.extent) &&
        most.of(limit.extent) > limit.positions)
      return message.set(
          MILLE_TOO_LARGE, "max_%s is %lld but model %s takes at most %u",
          mille::sizeName(limit.extent), (ll)most.of(limit.extent), model.name,
          limit.positions);
  return status;
}

static mille_status createSession(mille_package *package,
                                  const mille::Sizes &most, int threads,
                                  const char *device, mille_session **session) {
  mille::Message &message = package->message();
  const mille_model &model = *package->model;
  if (!session)
    return message.set(MILLE_INVALID_ARGUMENT, "session is null");
  mille_status status = checkMost(model, most, message);
  if (status != MILLE_OK)
    return status;
  if (threads < 0 || threads > mille::maxThreads)
    return message.set(MILLE_INVALID_ARGUMENT,
                       "threads is %d but must be 0 to %d", threads,
                       mille::maxThreads);
  mille_session *made = package->memory.make<mille_session>();
  if (!made)
    return message.set(MILLE_OUT_OF_MEMORY,
                       "a session needs %zu bytes but memory was refused",
                       sizeof(mille_session));
  package->owners.add(1);
  status =
      made->create(*package, most, threads ? threads : cpusOfProcess(), device);
  if (status != MILLE_OK) {
    made->destroy();
    return status;
  }
  package->log("session of %s: %s, %d threads, %llu bytes", model.name,
               mille::SizesText(model, most).text, made->threads,
               (ull)made->bytes);
  *session = made;
  return MILLE_OK;
}

// The shorthand has one token size.
static mille_status checkShorthand(const mille_model &model,
                                   const char *instead,
                                   mille::Message &message) {
  if (!mille::hasSize(model, MILLE_DECODER_TOKENS))
    return MILLE_OK;
  return message.set(MILLE_INVALID_ARGUMENT,
                     "model %s has decoder_tokens: call %s", model.name,
                     instead);
}

static mille_status runSession(mille_session *session,
                               const mille::Sizes &sizes,
                               const void *const *inputs,
                               float *const *outputs) {
  mille_status status = session->checkRun(sizes, inputs, outputs);
  if (status != MILLE_OK)
    return status;
  session->takeInputs(sizes, inputs);
  session->setSizes(sizes);
  session->run.outputs = outputs;
  const mille_model &model = *session->package->model;
  session->run.token_rows =
      session->padding.remove(model, sizes, session->inputs);
  int32_t code = session->compute(sizes);
  if (code == 0) {
    session->padding.putBack(model, sizes, outputs);
    return MILLE_OK;
  }
  if (code == MILLE_CANCELLED)
    return session->message.set(MILLE_CANCELLED, "the run was cancelled");
  const char *why = session->failing.load() ? session->failure.text
                                            : "the model's code failed";
  if (code > 0) // a status, not a kernel's code
    return session->message.set((mille_status)code, "%s", why);
  return session->message.set(MILLE_INTERNAL, "%s (code %d)", why, code);
}

// One run at a time: the message belongs to the run that is under way.
static bool begin(mille_session *session) {
  if (!session || !session->running.change(0, 1))
    return false;
  session->cancelled.store(0);
  session->failing.store(0);
  session->failed.store(0);
  return true;
}

static mille_status setScale(mille_session *session, const char *name,
                             double value) {
  const mille_model &model = *session->package->model;
  if (!name)
    return session->message.set(MILLE_INVALID_ARGUMENT, "name is null");
  if (isinf(value))
    return session->message.set(MILLE_INVALID_ARGUMENT,
                                "scale %s must be finite, or NAN for its "
                                "schedule",
                                name);
  for (uint32_t i = 0; i < model.schedule_count; ++i)
    if (strcmp(model.schedules[i].name, name) == 0) {
      session->scales[i] = value;
      return MILLE_OK;
    }
  return session->message.set(
      MILLE_INVALID_ARGUMENT, "model %s has no scheduled scale '%s'%s%s",
      model.name, name, model.schedule_count ? "; its first one is " : "",
      model.schedule_count ? model.schedules[0].name : "");
}

extern "C" {

mille_status mille_session_create_for(mille_package *package,
                                      const mille_sizes *most, int threads,
                                      mille_session **session) {
  return mille_session_create_on(package, most, threads, nullptr, session);
}

mille_status mille_session_create_on(mille_package *package,
                                     const mille_sizes *most, int threads,
                                     const char *device,
                                     mille_session **session) {
  if (session)
    *session = nullptr;
  if (!package)
    return MILLE_INVALID_ARGUMENT;
  mille::Sizes sizes;
  mille_status status = takeSizes(most, "most", sizes, package->message());
  return status == MILLE_OK
             ? createSession(package, sizes, threads, device, session)
             : status;
}

mille_status mille_session_create(mille_package *package, int64_t max_batch,
                                  int64_t max_tokens, int threads,
                                  mille_session **session) {
  if (session)
    *session = nullptr;
  if (!package)
    return MILLE_INVALID_ARGUMENT;
  mille_status status = checkShorthand(
      *package->model, "mille_session_create_for", package->message());
  return status == MILLE_OK ? createSession(package, {max_batch, max_tokens, 0},
                                            threads, nullptr, session)
                            : status;
}

mille_status mille_session_close(mille_session *session) {
  if (session)
    session->destroy();
  return MILLE_OK;
}

mille_status mille_session_run_for(mille_session *session,
                                   const mille_sizes *sizes,
                                   const void *const *inputs,
                                   float *const *outputs) {
  if (!begin(session))
    return MILLE_INVALID_ARGUMENT;
  mille::Sizes mine;
  mille_status status = takeSizes(sizes, "sizes", mine, session->message);
  if (status == MILLE_OK)
    status = runSession(session, mine, inputs, outputs);
  session->running.store(0);
  return status;
}

mille_status mille_session_run(mille_session *session, int64_t batch,
                               int64_t tokens, const void *const *inputs,
                               float *const *outputs) {
  if (!begin(session))
    return MILLE_INVALID_ARGUMENT;
  mille_status status = checkShorthand(
      *session->package->model, "mille_session_run_for", session->message);
  if (status == MILLE_OK)
    status = runSession(session, {batch, tokens, 0}, inputs, outputs);
  session->running.store(0);
  return status;
}

mille_status mille_session_cancel(mille_session *session) {
  if (!session)
    return MILLE_INVALID_ARGUMENT;
  session->cancelled.store(1);
  return MILLE_OK;
}

mille_status mille_session_set_scale(mille_session *session, const char *name,
                                     double value) {
  if (!session || !session->running.change(0, 1))
    return MILLE_INVALID_ARGUMENT;
  mille_status status = setScale(session, name, value);
  session->running.store(0);
  return status;
}

mille_status mille_session_keep_padding(mille_session *session, int keep) {
  if (!session || !session->running.change(0, 1))
    return MILLE_INVALID_ARGUMENT;
  session->padding.kept = keep != 0;
  session->running.store(0);
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
  if (!session || !session->running.change(0, 1))
    return MILLE_INVALID_ARGUMENT;
  uint32_t kernels = session->package->model->kernel_count;
  if (enable && !session->profiling) {
    memset(session->counts, 0, kernels * sizeof(Counts));
    for (int thread = 0; thread < session->threads; ++thread)
      memset(session->tasks[thread].nanoseconds, 0, kernels * sizeof(uint64_t));
  }
  session->profiling = enable != 0;
  session->running.store(0);
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
  if (!session || !profile || index >= session->package->model->kernel_count ||
      !session->running.change(0, 1))
    return MILLE_INVALID_ARGUMENT;
  const Counts &counts = session->counts[index];
  *profile = {session->package->model->kernels[index]->name, counts.calls, 0,
              counts.flops, counts.weightBytes};
  for (int thread = 0; thread < session->threads; ++thread)
    profile->nanoseconds += session->tasks[thread].nanoseconds[index];
  session->running.store(0);
  return MILLE_OK;
}
}
