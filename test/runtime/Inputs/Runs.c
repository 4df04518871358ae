/* Right numbers for any threads, batch and tokens, and every refusal of a run.
 * argv[1]: where a weights file may be written; argv[2]: the most threads. */
#include "FakeModel.h"

#include <string.h>

static mille_package *package;
static int32_t ids[5 * 300], mask[5 * 300], positions[5 * 300];
static float hidden[5 * 300 * fakeHidden], pooled[5 * fakeHidden];
static float wantedHidden[5 * 300 * fakeHidden], wantedPooled[5 * fakeHidden];
static float *outputs[2] = {hidden, pooled};

static void checkOutputs(int64_t batch, int64_t tokens, const int32_t *m,
                         const int32_t *p) {
  fake_expected(batch, tokens, ids, m, p, wantedHidden, wantedPooled);
  CHECK(memcmp(hidden, wantedHidden, 4 * batch * tokens * fakeHidden) == 0);
  CHECK(memcmp(pooled, wantedPooled, 4 * batch * fakeHidden) == 0);
}

static void runsOf(int threads) {
  mille_session *session;
  CHECK(mille_session_create(package, 5, 300, threads, &session) == MILLE_OK);
  int started;
  CHECK(mille_session_threads(session, &started) == MILLE_OK);
  CHECK(started == threads);
  static const int sizes[] = {1, 2, 7, 12, 13, 33, 64, 127, 300};
  for (int batch = 1; batch <= 5; batch += 2)
    for (int s = 0; s < 9; ++s) {
      int tokens = sizes[s];
      if (batch * tokens > 400)
        continue;
      for (int i = 0; i < batch * tokens; ++i) {
        ids[i] = (i * 13 + tokens) % fakeVocabulary;
        mask[i] = i % 5 != 1;
        positions[i] = (i * 3) % fakePositions;
      }
      const void *given[4] = {ids, NULL, NULL, NULL};
      memset(hidden, 0xff, sizeof hidden);
      memset(pooled, 0xff, sizeof pooled);
      CHECK(mille_session_run(session, batch, tokens, given, outputs) ==
            MILLE_OK);
      checkOutputs(batch, tokens, NULL, NULL);
      given[1] = mask;
      given[2] = positions;
      CHECK(mille_session_run(session, batch, tokens, given, outputs) ==
            MILLE_OK);
      checkOutputs(batch, tokens, mask, positions);
    }
  CHECK(mille_session_close(session) == MILLE_OK);
}

static void queries(void) {
  size_t count;
  CHECK(mille_package_input_count(package, &count) == MILLE_OK && count == 4);
  CHECK(mille_package_output_count(package, &count) == MILLE_OK && count == 2);
  mille_tensor tensor;
  CHECK(mille_package_input(package, 0, &tensor) == MILLE_OK);
  CHECK(strcmp(tensor.name, "input_ids") == 0 && !tensor.optional);
  CHECK(tensor.rank == 2 && strcmp(tensor.sizes[0], "batch") == 0 &&
        strcmp(tensor.sizes[1], "tokens") == 0 &&
        tensor.below == fakeVocabulary);
  CHECK(mille_package_input(package, 1, &tensor) == MILLE_OK);
  CHECK(tensor.optional && tensor.type == MILLE_TYPE_I32);
  CHECK(mille_package_output(package, 1, &tensor) == MILLE_OK);
  CHECK(tensor.type == MILLE_TYPE_F32 && tensor.shape[1] == fakeHidden &&
        !tensor.sizes[1]);
  EXPECT(mille_package_output(package, 2, &tensor), MILLE_INVALID_ARGUMENT,
         mille_package_message(package),
         "output 2 is asked for but model fake has 2");
  const char *text;
  CHECK(mille_package_name(package, &text) == MILLE_OK);
  CHECK(strcmp(text, "fake") == 0);
  CHECK(mille_package_isa(package, &text) == MILLE_OK && text[0] == 'x');
  uint64_t bytes;
  size_t whole;
  fake_weights(&whole);
  CHECK(mille_package_weights_bytes(package, &bytes) == MILLE_OK);
  CHECK(bytes == whole);
  CHECK(strcmp(mille_version(), "0.1.0") == 0);
  CHECK(mille_package_message(NULL) && mille_session_message(NULL));
}

static void refusals(void) {
  mille_session *session;
#define REFUSED(b, t, n, status, part)                                         \
  EXPECT(mille_session_create(package, b, t, n, &session), status,             \
         mille_package_message(package), part);                                \
  CHECK(session == NULL)
  REFUSED(0, 8, 1, MILLE_INVALID_ARGUMENT,
          "max_batch is 0 but must be at least 1");
  REFUSED(1, 8, 65, MILLE_INVALID_ARGUMENT,
          "threads is 65 but must be 0 to 64");
  REFUSED(1, 301, 1, MILLE_TOO_LARGE,
          "max_tokens is 301 but model fake takes at most 300");
  REFUSED(INT64_MAX, 300, 1, MILLE_TOO_LARGE, "a session of batch ");
  REFUSED(INT64_MAX, 300, 1, MILLE_TOO_LARGE,
          " is more than memory or 2147483582 rows can hold");
  REFUSED(INT32_MAX, 1, 1, MILLE_TOO_LARGE, "more than memory");
  CHECK(mille_session_create(package, 2, 8, 2, &session) == MILLE_OK);

  const void *given[4] = {ids, NULL, NULL, NULL};
#define RUN(b, t, status, part)                                                \
  EXPECT(mille_session_run(session, b, t, given, outputs), status,             \
         mille_session_message(session), part)
  memset(ids, 0, sizeof ids);
  RUN(0, 8, MILLE_INVALID_ARGUMENT, "batch is 0 but must be at least 1");
  RUN(1, 0, MILLE_INVALID_ARGUMENT, "tokens is 0 but must be at least 1");
  RUN(3, 8, MILLE_TOO_LARGE, "batch is 3 but this session was created for 2");
  RUN(1, 9, MILLE_TOO_LARGE, "tokens is 9 but this session was created for 8");
  ids[8 + 3] = 50;
  RUN(2, 8, MILLE_INVALID_INPUT,
      "input_ids[1, 3] is 50 but must be at least 0 and below 50");
  ids[8 + 3] = -1;
  RUN(2, 8, MILLE_INVALID_INPUT, "input_ids[1, 3] is -1");
  ids[8 + 3] = 49;
  given[0] = NULL;
  RUN(2, 8, MILLE_INVALID_INPUT, "input input_ids is null but has no default");
  given[0] = ids;
  outputs[1] = NULL;
  RUN(2, 8, MILLE_INVALID_ARGUMENT,
      "output pooler_output is null but every output is written");
  outputs[1] = pooled;
  EXPECT(mille_session_run(session, 2, 8, NULL, outputs),
         MILLE_INVALID_ARGUMENT, mille_session_message(session),
         "inputs is null");
  EXPECT(mille_session_run(session, 2, 8, given, NULL), MILLE_INVALID_ARGUMENT,
         mille_session_message(session), "outputs is null");
  EXPECT(mille_session_create(package, 2, 8, 2, NULL), MILLE_INVALID_ARGUMENT,
         mille_package_message(package), "session is null");
  EXPECT(mille_session_run(NULL, 2, 8, given, outputs), MILLE_INVALID_ARGUMENT,
         mille_session_message(NULL), "session is null");
  CHECK(strcmp(mille_package_message(NULL), "package is null") == 0);

  fake_fail_at = 2;
  RUN(2, 8, MILLE_INTERNAL, "call 2 was told to fail (code -22)");
  fake_fail_at = 0;
  fake_scratch = 100000;
  RUN(2, 8, MILLE_INTERNAL, "a kernel asks for 100000 bytes of scratch but ");
  RUN(2, 8, MILLE_INTERNAL, " are left");
  fake_scratch = 1000;
  CHECK(mille_session_run(session, 2, 8, given, outputs) == MILLE_OK);
  checkOutputs(2, 8, NULL, NULL);
  CHECK(mille_session_close(session) == MILLE_OK);
}

static void profiles(void) {
  mille_session *session;
  CHECK(mille_session_create(package, 2, 64, 2, &session) == MILLE_OK);
  const void *given[4] = {ids, NULL, NULL, NULL};
  CHECK(mille_session_run(session, 2, 64, given, outputs) == MILLE_OK);
  CHECK(mille_session_profile(session, 1) == MILLE_OK);
  for (int i = 0; i < 3; ++i)
    CHECK(mille_session_run(session, 2, 64, given, outputs) == MILLE_OK);
  CHECK(mille_session_profile(session, 0) == MILLE_OK);
  CHECK(mille_session_run(session, 2, 64, given, outputs) == MILLE_OK);
  size_t count;
  CHECK(mille_session_kernel_count(session, &count) == MILLE_OK && count == 4);
  for (size_t k = 0; k < count; ++k) {
    mille_profile profile;
    CHECK(mille_session_kernel(session, k, &profile) == MILLE_OK);
    CHECK(profile.calls == 3 && profile.nanoseconds > 0);
    if (strcmp(profile.name, "matmul") == 0)
      CHECK(profile.flops == 3 * 128 * 300000 && profile.weight_bytes == 9216);
    if (strcmp(profile.name, "attention") == 0)
      CHECK(profile.flops == 3 * 128 * 64 * 1000);
  }
  mille_profile profile;
  CHECK(mille_session_kernel(session, 4, &profile) == MILLE_INVALID_ARGUMENT);
  size_t bytes;
  CHECK(mille_session_memory(session, &bytes) == MILLE_OK &&
        bytes > 64 * 2 * 448);
  CHECK(mille_session_close(session) == MILLE_OK);
}

int main(int argc, char **argv) {
  CHECK(argc >= 2);
  int mostThreads = argc > 2 ? atoi(argv[2]) : 64;
  fake_write_weights(argv[1]);
  char message[512];
  mille_options options = MILLE_OPTIONS_INIT;
  options.verify_hash = 1;
  mille_status status = mille_package_open(fake_model(), argv[1], &options,
                                           &package, message, sizeof message);
  EXPECT(status, MILLE_OK, "", "");
  queries();
  static const int threads[] = {1, 2, 3, 7, 16};
  for (int i = 0; i < 5 && threads[i] <= mostThreads; ++i)
    runsOf(threads[i]);
  refusals();
  profiles();
  CHECK(mille_package_close(package) == MILLE_OK);
  CHECK(mille_package_close(NULL) == MILLE_OK);
  CHECK(mille_session_close(NULL) == MILLE_OK);
  return 0;
}
