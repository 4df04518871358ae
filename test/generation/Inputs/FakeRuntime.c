/* Entry 0 is next, entry 1 is extend, entry 2 is source. A row of the state
 * "ids" is a token's id, one of "source_ids" a source's; the state "sum" has
 * one row. Must not know the generation room. */
#include "FakeRuntime.h"

struct mille_session {
  mille_package *package;
  int64_t batch, tokens, context, sources;
  int32_t *ids;    /* [batch, context] */
  int32_t *source; /* [batch, sources] */
  int32_t *sum;    /* [batch] */
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
  const int there[] = {package->next, package->extend, package->source};
  *entry = !strcmp(name, "next") ? 0 : !strcmp(name, "extend") ? 1 : 2;
  return there[*entry] ? MILLE_OK : MILLE_INVALID_ARGUMENT;
}
static mille_status entryInfo(mille_package *package, size_t entry,
                              mille_entry_info *info) {
  static const char *const names[] = {"next", "extend", "source"};
  const size_t more = (size_t)(package->source + package->wants);
  *info = (mille_entry_info){names[entry], entry == 2 ? 1 : 3 + more, 1,
                             1 + (size_t)package->source};
  return MILLE_OK;
}
static mille_status input(mille_package *package, size_t entry, size_t index,
                          mille_tensor *tensor) {
  const char *const names[] = {"input_ids", "attention_mask", "past",
                               package->source ? "source_tokens"
                                               : "pixel_values"};
  memset(tensor, 0, sizeof *tensor);
  tensor->name = names[index];
  tensor->type = MILLE_TYPE_I32;
  tensor->below = entry == 2 ? fakeSources : 0;
  tensor->optional = index == 1 || index == 2;
  return MILLE_OK;
}
static mille_status output(mille_package *package, size_t entry, size_t index,
                           mille_tensor *tensor) {
  (void)index;
  memset(tensor, 0, sizeof *tensor);
  tensor->name = entry == 2 ? "last_hidden_state" : "logits";
  tensor->rank = entry ? 3 : 2;
  tensor->sizes[0] = "batch";
  tensor->sizes[1] = entry ? "tokens" : NULL;
  tensor->shape[tensor->rank - 1] = package->vocabulary;
  return MILLE_OK;
}
static mille_status stateCount(mille_package *package, size_t *count) {
  *count = 1 + (size_t)package->source;
  return MILLE_OK;
}
static mille_status state(mille_package *package, size_t index,
                          mille_tensor *tensor) {
  memset(tensor, 0, sizeof *tensor);
  tensor->name = index ? "source_ids" : package->sums ? "sum" : "ids";
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
  CHECK(count == (package->source ? 4 : 3));
  made->package = package;
  made->batch = most[0].value;
  made->tokens = most[1].value;
  made->context = most[2].value;
  made->sources = package->source ? most[3].value : 0;
  made->source =
      calloc((size_t)(made->batch * made->sources + 1), sizeof *made->source);
  made->ids = calloc((size_t)(made->batch * made->context), sizeof *made->ids);
  made->sum = calloc((size_t)made->batch, sizeof *made->sum);
  *session = made;
  return MILLE_OK;
}
static mille_status closeSession(mille_session *session) {
  free(session->ids);
  free(session->source);
  free(session->sum);
  free(session);
  return MILLE_OK;
}

/* Logits that no other ids have. */
static void say(const mille_session *session, int64_t s, int64_t held,
                int64_t sources, float *logits) {
  uint64_t hash = 14695981039346656037ull;
  for (int64_t i = 0; i < sources; ++i)
    hash = (hash ^ (uint64_t)session->source[s * session->sources + i]) *
           1099511628211ull;
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

/* The source of the first sequence. */
static mille_status encode(mille_session *session, const mille_size *sizes,
                           const int32_t *ids) {
  CHECK(sizes[0].value == 1 && sizes[1].value <= session->sources);
  memset(session->source, 0, (size_t)session->sources * sizeof *ids);
  memcpy(session->source, ids, (size_t)sizes[1].value * sizeof *ids);
  return MILLE_OK;
}

static mille_status run(mille_session *session, size_t entry,
                        const mille_size *sizes, size_t count,
                        const void *const *inputs, float *const *outputs) {
  mille_package *package = session->package;
  const int64_t batch = sizes[0].value, tokens = sizes[1].value;
  const int32_t *ids = inputs[0], *mask = inputs[1], *past = inputs[2];
  const mille_status fails = package->fails;
  const int32_t *sources = package->source && entry < 2 ? inputs[3] : NULL;
  if (entry == 2)
    return encode(session, sizes, ids);
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
      CHECK(past[s] == 0 || past[s] >= package->least);
      if (package->least && past[s] == 0)
        package->least = 1; /* a sequence that begins anew drops nothing */
      session->ids[s * session->context + past[s] + t] = id;
      session->sum[s] =
          (int32_t)((past[s] + t ? (uint32_t)session->sum[s] : 0) * 31 +
                    (uint32_t)id + 1);
      ++package->rows;
      say(session, s, past[s] + t + 1, sources ? sources[s] : 0,
          outputs[0] + (entry ? s * tokens + t : s) * package->vocabulary);
    }
  return MILLE_OK;
}

static mille_status copyStates(mille_session *session, int64_t from,
                               int64_t to) {
  memcpy(session->ids + to * session->context,
         session->ids + from * session->context, session->context * 4);
  memcpy(session->source + to * session->sources,
         session->source + from * session->sources,
         (size_t)session->sources * 4);
  session->sum[to] = session->sum[from];
  return MILLE_OK;
}

/* Where bytes of a sequence's state lie. */
/* An older runtime does not know the question. */
static mille_status leastPast(mille_session *session, int64_t sequence,
                              int64_t *past) {
  CHECK(sequence >= 0 && sequence < session->batch);
  *past = session->package->least;
  return session->package->least ? MILLE_OK : MILLE_INVALID_ARGUMENT;
}
static mille_status stateBytes(mille_session *session, size_t number,
                               size_t *bytes) {
  CHECK(number <= (size_t)session->package->source);
  *bytes = (size_t)(number                   ? session->sources
                    : session->package->sums ? 1
                                             : session->context) *
           4;
  return MILLE_OK;
}
static char *partOf(mille_session *session, size_t number, int64_t sequence,
                    size_t first, size_t bytes) {
  size_t all;
  stateBytes(session, number, &all);
  CHECK(first <= all && bytes <= all - first);
  if (number)
    return first + (char *)(session->source + sequence * session->sources);
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
static mille_status outputMemory(mille_session *session, size_t bytes,
                                 void **memory) {
  (void)session;
  (void)bytes;
  *memory = NULL;
  return MILLE_OK;
}
static mille_status sessionMemory(const mille_session *session, size_t *bytes) {
  (void)session;
  *bytes = fakeSessionBytes;
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
                                              leastPast,
                                              stateBytes,
                                              readPart,
                                              writePart,
                                              cancel,
                                              sessionMessage,
                                              outputMemory,
                                              sessionMemory};
