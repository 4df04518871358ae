/* Entry 0 is next, entry 1 is extend. A row of the state "ids" is a token's id;
 * the state "sum" has one row. Must not know the generation room. */
#include "FakeRuntime.h"

struct mille_session {
  mille_package *package;
  int64_t batch, tokens, context;
  int32_t *ids; /* [batch, context] */
  int32_t *sum; /* [batch] */
};

const char *mille_status_name(mille_status status) {
  return status == MILLE_OK                 ? "ok"
         : status == MILLE_INVALID_ARGUMENT ? "invalid argument"
         : status == MILLE_INVALID_INPUT    ? "invalid input"
         : status == MILLE_TOO_LARGE        ? "too large"
         : status == MILLE_FILE_ERROR       ? "file error"
                                            : "another";
}

static mille_status findEntry(mille_package *package, const char *name,
                              size_t *entry) {
  *entry = strcmp(name, "next") ? 1 : 0;
  return (*entry ? package->extend : package->next) ? MILLE_OK
                                                    : MILLE_INVALID_ARGUMENT;
}
static mille_status entryInfo(mille_package *package, size_t entry,
                              mille_entry_info *info) {
  *info = (mille_entry_info){entry ? "extend" : "next",
                             3 + (size_t)package->wants, 1, 1};
  return MILLE_OK;
}
static mille_status input(mille_package *package, size_t entry, size_t index,
                          mille_tensor *tensor) {
  static const char *const names[] = {"input_ids", "attention_mask", "past",
                                      "pixel_values"};
  (void)package, (void)entry;
  memset(tensor, 0, sizeof *tensor);
  tensor->name = names[index];
  tensor->optional = index == 1 || index == 2;
  return MILLE_OK;
}
static mille_status output(mille_package *package, size_t entry, size_t index,
                           mille_tensor *tensor) {
  (void)index;
  memset(tensor, 0, sizeof *tensor);
  tensor->name = "logits";
  tensor->rank = entry ? 3 : 2;
  tensor->shape[tensor->rank - 1] = package->vocabulary;
  return MILLE_OK;
}
static mille_status stateCount(mille_package *package, size_t *count) {
  (void)package;
  *count = 1;
  return MILLE_OK;
}
static mille_status state(mille_package *package, size_t index,
                          mille_tensor *tensor) {
  (void)index;
  memset(tensor, 0, sizeof *tensor);
  tensor->name = package->sums ? "sum" : "ids";
  tensor->rank = 4;
  tensor->shape[0] = tensor->shape[3] = 1;
  tensor->shape[2] = package->sums;
  tensor->sizes[2] = package->sums ? NULL : "context";
  return MILLE_OK;
}
static mille_status nameOf(mille_package *package, const char **name) {
  (void)package;
  *name = "fake";
  return MILLE_OK;
}
static mille_status hashOf(mille_package *package, uint64_t *hash) {
  *hash = package->hash;
  return MILLE_OK;
}
static const char *packageMessage(const mille_package *package) {
  (void)package;
  return "the package says so";
}

static mille_status create(mille_package *package, const mille_size *most,
                           size_t count, int threads, mille_session **session) {
  mille_session *made = calloc(1, sizeof *made);
  (void)threads;
  CHECK(count == 3);
  made->package = package;
  made->batch = most[0].value;
  made->tokens = most[1].value;
  made->context = most[2].value;
  made->ids = calloc((size_t)(made->batch * made->context), sizeof *made->ids);
  made->sum = calloc((size_t)made->batch, sizeof *made->sum);
  *session = made;
  return MILLE_OK;
}
static mille_status closeSession(mille_session *session) {
  free(session->ids);
  free(session->sum);
  free(session);
  return MILLE_OK;
}

/* Logits that no other ids have. */
static void say(const mille_session *session, int64_t s, int64_t held,
                float *logits) {
  uint64_t hash = 14695981039346656037ull;
  for (int64_t i = 0; i < held && !session->package->sums; ++i)
    hash = (hash ^ (uint64_t)session->ids[s * session->context + i]) *
           1099511628211ull;
  if (session->package->sums)
    hash = (hash ^ (uint64_t)session->sum[s]) * 1099511628211ull;
  for (int64_t id = 0; id < session->package->vocabulary; ++id) {
    const uint64_t own = (hash ^ (uint64_t)id) * 0x9e3779b97f4a7c15u;
    logits[id] = session->package->logits
                     ? session->package->logits[id]
                     : (float)(own >> 40) / (float)(1 << 21);
  }
}

static mille_status run(mille_session *session, size_t entry,
                        const mille_size *sizes, size_t count,
                        const void *const *inputs, float *const *outputs) {
  mille_package *package = session->package;
  const int64_t batch = sizes[0].value, tokens = sizes[1].value;
  const int32_t *ids = inputs[0], *mask = inputs[1], *past = inputs[2];
  const mille_status fails = package->fails;
  CHECK(count == 2 && batch <= session->batch && tokens <= session->tokens);
  package->fails = MILLE_OK;
  if (package->cancels)
    CHECK(mille_generation_cancel(package->cancels) == MILLE_OK);
  package->cancels = NULL;
  if (fails)
    return fails;
  ++package->runs;
  for (int64_t s = 0; s < batch; ++s)
    for (int64_t t = 0; t < tokens; ++t) {
      const int32_t id = ids[s * tokens + t];
      if (mask && !mask[s * tokens + t])
        continue;
      CHECK(past[s] + t < session->context);
      session->ids[s * session->context + past[s] + t] = id;
      session->sum[s] = (past[s] + t ? session->sum[s] : 0) * 31 + id + 1;
      ++package->rows;
      say(session, s, past[s] + t + 1,
          outputs[0] + (entry ? s * tokens + t : s) * package->vocabulary);
    }
  return MILLE_OK;
}

static mille_status copyStates(mille_session *session, int64_t from,
                               int64_t to) {
  memcpy(session->ids + to * session->context,
         session->ids + from * session->context, session->context * 4);
  session->sum[to] = session->sum[from];
  return MILLE_OK;
}

/* Where bytes of a sequence's state lie. */
static mille_status stateBytes(mille_session *session, size_t number,
                               size_t *bytes) {
  CHECK(number == 0);
  *bytes = (size_t)(session->package->sums ? 1 : session->context) * 4;
  return MILLE_OK;
}
static char *partOf(mille_session *session, size_t number, int64_t sequence,
                    size_t first, size_t bytes) {
  size_t all;
  stateBytes(session, number, &all);
  CHECK(first <= all && bytes <= all - first);
  return first + (session->package->sums
                      ? (char *)(session->sum + sequence)
                      : (char *)(session->ids + sequence * session->context));
}
static mille_status readPart(mille_session *session, size_t number,
                             int64_t sequence, size_t first, void *into,
                             size_t bytes) {
  memcpy(into, partOf(session, number, sequence, first, bytes), bytes);
  return MILLE_OK;
}
static mille_status writePart(mille_session *session, size_t number,
                              int64_t sequence, size_t first, const void *from,
                              size_t bytes) {
  memcpy(partOf(session, number, sequence, first, bytes), from, bytes);
  return MILLE_OK;
}
static mille_status cancel(mille_session *session) {
  (void)session;
  return MILLE_OK;
}
static const char *sessionMessage(const mille_session *session) {
  (void)session;
  return "the session says so";
}

const mille_generation_runtime fakeRuntime = {sizeof fakeRuntime,
                                              findEntry,
                                              entryInfo,
                                              input,
                                              output,
                                              stateCount,
                                              state,
                                              nameOf,
                                              hashOf,
                                              packageMessage,
                                              create,
                                              closeSession,
                                              run,
                                              copyStates,
                                              stateBytes,
                                              readPart,
                                              writePart,
                                              cancel,
                                              sessionMessage};
