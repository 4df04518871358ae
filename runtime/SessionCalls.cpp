// The C functions of sessions: sizes by name, one call at a time, messages.
// Must not know how a session lies in memory.
#include "runtime/Backend.h"

#include <math.h>
#include <sched.h>
#include <string.h>

using mille::Counts;
using mille::Sizes;

using ll = long long;
using ull = unsigned long long;

static int cpusOfProcess() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  int count = CPU_COUNT(&set);
  return count < 1 ? 1 : count < mille::maxThreads ? count : mille::maxThreads;
}

// No size above what the model takes, and all of one entry.
static mille_status checkMost(const mille_model &model, const Sizes &most,
                              mille::Message &message) {
  for (uint32_t size = 0; size < model.size_count; ++size)
    if (model.sizes[size].most && most.of[size] > model.sizes[size].most)
      return message.set(MILLE_TOO_LARGE,
                         "max_%s is %lld but model %s takes at most %lld",
                         model.sizes[size].name, (ll)most.of[size], model.name,
                         (ll)model.sizes[size].most);
  uint32_t missing = 0, other;
  for (uint32_t e = 0; e < model.entry_count; ++e)
    if (mille::isGiven(model, model.entries[e], most, e ? other : missing))
      return MILLE_OK;
  return message.set(MILLE_INVALID_ARGUMENT,
                     "max_%s is not given but entry %s needs it",
                     model.sizes[missing].name, model.entries[0].name);
}

static mille_status createSession(mille_package *package, const Sizes &most,
                                  int threads, const char *device,
                                  mille_session **session) {
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

// The shorthand's sizes: of entry 0, which has no others. What it has not may
// be any number.
static mille_status takeShorthand(const mille_model &model, int64_t batch,
                                  int64_t tokens, const char *prefix,
                                  const char *instead, Sizes &sizes,
                                  mille::Message &message) {
  mille_size list[2] = {{model.sizes[mille::batchSize].name, batch}};
  size_t count = 1;
  for (uint32_t size = 0; size < model.size_count; ++size) {
    if (size == mille::batchSize ||
        !mille::hasSize(model, model.entries[0], size))
      continue;
    if (size != model.token_size)
      return message.set(MILLE_INVALID_ARGUMENT, "model %s has %s: call %s",
                         model.name, model.sizes[size].name, instead);
    list[count++] = {model.sizes[size].name, tokens};
  }
  return takeSizes(model, list, count, prefix, sizes, message);
}

// Checks a run and starts it. Where this fails nothing has started.
static mille_status startRun(mille_session *session, const Sizes &sizes,
                             size_t entry, const void *const *inputs,
                             float *const *outputs) {
  const mille_package &package = *session->package;
  if (mille::drawnBytes(*package.model) &&
      session->run.weights == package.weights.tensors)
    return session->message.set(MILLE_BAD_WEIGHTS,
                                "the weights of model %s are drawn by its "
                                "trainers: a session has none",
                                package.model->name);
  session->choose((uint32_t)entry, sizes);
  mille_status status = session->checkRun(inputs, outputs);
  if (status != MILLE_OK)
    return status;
  session->takeInputs(inputs);
  mille::slideWindows(*session);
  session->run.outputs = outputs;
  mille::Padding &padding = session->memory->padding;
  if (session->entry->padding_ends)
    session->run.token_rows = padding.remove(
        session->sizes, session->keepsPadding(), session->inputs);
  session->started = session->start();
  return MILLE_OK;
}

static mille_status endRun(mille_session *session) {
  const int32_t code = session->end(session->started);
  if (code == 0) {
    session->memory->padding.putBack(session->sizes, session->run.outputs);
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

static mille_status runSession(mille_session *session, const Sizes &sizes,
                               size_t entry, const void *const *inputs,
                               float *const *outputs) {
  mille_status status = startRun(session, sizes, entry, inputs, outputs);
  return status == MILLE_OK ? endRun(session) : status;
}

// The sizes of a run of an entry.
static mille_status takeEntry(mille_session *session, size_t entry,
                              const mille_size *sizes, size_t count,
                              Sizes &taken) {
  const mille_model &model = *session->package->model;
  if (entry < model.entry_count)
    return takeSizes(model, sizes, count, "", taken, session->message);
  return session->message.set(MILLE_INVALID_ARGUMENT,
                              "entry %zu is asked for but model %s has %u",
                              entry, model.name, model.entry_count);
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
                                      const mille_size *most, size_t count,
                                      int threads, mille_session **session) {
  return mille_session_create_on(package, most, count, threads, nullptr,
                                 session);
}

mille_status mille_session_create_on(mille_package *package,
                                     const mille_size *most, size_t count,
                                     int threads, const char *device,
                                     mille_session **session) {
  if (session)
    *session = nullptr;
  if (!package)
    return MILLE_INVALID_ARGUMENT;
  Sizes sizes;
  mille_status status = takeSizes(*package->model, most, count, "max_", sizes,
                                  package->message());
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
  Sizes sizes;
  mille_status status =
      takeShorthand(*package->model, max_batch, max_tokens, "max_",
                    "mille_session_create_for", sizes, package->message());
  return status == MILLE_OK
             ? createSession(package, sizes, threads, nullptr, session)
             : status;
}

mille_status mille_session_close(mille_session *session) {
  if (session && session->waiting.load())
    mille_session_wait(session);
  if (session)
    session->destroy();
  return MILLE_OK;
}

mille_status mille_session_run_entry(mille_session *session, size_t entry,
                                     const mille_size *sizes, size_t count,
                                     const void *const *inputs,
                                     float *const *outputs) {
  if (!begin(session))
    return MILLE_INVALID_ARGUMENT;
  Sizes mine;
  mille_status status = takeEntry(session, entry, sizes, count, mine);
  if (status == MILLE_OK)
    status = runSession(session, mine, entry, inputs, outputs);
  session->running.store(0);
  return status;
}

mille_status mille_session_start(mille_session *session, size_t entry,
                                 const mille_size *sizes, size_t count,
                                 const void *const *inputs,
                                 float *const *outputs) {
  if (!begin(session))
    return MILLE_INVALID_ARGUMENT;
  Sizes mine;
  mille_status status = takeEntry(session, entry, sizes, count, mine);
  if (status == MILLE_OK)
    status = startRun(session, mine, entry, inputs, outputs);
  if (status == MILLE_OK)
    session->waiting.store(1);
  else
    session->running.store(0);
  return status;
}

mille_status mille_session_wait(mille_session *session) {
  if (!session || !session->waiting.change(1, 0))
    return MILLE_INVALID_ARGUMENT;
  mille_status status = endRun(session);
  session->running.store(0);
  return status;
}

mille_status mille_session_run_for(mille_session *session,
                                   const mille_size *sizes, size_t count,
                                   const void *const *inputs,
                                   float *const *outputs) {
  return mille_session_run_entry(session, 0, sizes, count, inputs, outputs);
}

mille_status mille_session_run(mille_session *session, int64_t batch,
                               int64_t tokens, const void *const *inputs,
                               float *const *outputs) {
  if (!begin(session))
    return MILLE_INVALID_ARGUMENT;
  Sizes sizes;
  mille_status status =
      takeShorthand(*session->package->model, batch, tokens, "",
                    "mille_session_run_for", sizes, session->message);
  if (status == MILLE_OK)
    status = runSession(session, sizes, 0, inputs, outputs);
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
  session->keepPadding = keep != 0;
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

mille_status mille_session_output_memory(mille_session *session, size_t bytes,
                                         void **memory) {
  if (!session || !memory || !session->running.change(0, 1))
    return MILLE_INVALID_ARGUMENT;
  const mille_backend *backend =
      session->part ? session->part->device->backend : nullptr;
  *memory = backend && backend->pin ? backend->pin(*session, bytes) : nullptr;
  session->running.store(0);
  return MILLE_OK;
}

mille_status mille_session_watch_choices(mille_session *session,
                                         void (*see)(void *context,
                                                     const mille_choice *),
                                         void *context) {
  if (!session || !session->running.change(0, 1))
    return MILLE_INVALID_ARGUMENT;
  session->seeChoice = see;
  session->seeContext = context;
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
