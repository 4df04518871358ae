/* Sessions side by side, cancelling at random times, opening and closing: run
 * under ThreadSanitizer too. argv[1]: a weights file; argv[2]: rounds. */
#include "FakeModel.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

enum { most = 8, tokens = 24, batch = 2, rows = batch * tokens };
static mille_package *package;
static int rounds;
static int32_t ids[most][rows];
static float wantedHidden[most][rows * fakeHidden];
static float wantedPooled[most][batch * fakeHidden];

static void checkRun(mille_session *session, int which, float *hidden,
                     float *pooled) {
  const void *inputs[4] = {ids[which], NULL, NULL, NULL};
  float *outputs[2] = {hidden, pooled};
  mille_status status =
      mille_session_run(session, batch, tokens, inputs, outputs);
  EXPECT(status, MILLE_OK, mille_session_message(session), "");
  CHECK(memcmp(hidden, wantedHidden[which], sizeof wantedHidden[0]) == 0);
  CHECK(memcmp(pooled, wantedPooled[which], sizeof wantedPooled[0]) == 0);
}

/* Eight threads with a session each, on one package. */
static void *runMany(void *argument) {
  int which = *(int *)argument;
  float *hidden = malloc(sizeof wantedHidden[0]);
  float *pooled = malloc(sizeof wantedPooled[0]);
  mille_session *session;
  CHECK(mille_session_create(package, batch, tokens, 1 + which % 3, &session) ==
        MILLE_OK);
  for (int i = 0; i < rounds; ++i)
    checkRun(session, which, hidden, pooled);
  CHECK(mille_session_close(session) == MILLE_OK);
  free(hidden);
  free(pooled);
  return NULL;
}

static void sideBySide(void) {
  pthread_t threads[most];
  int which[most];
  for (int i = 0; i < most; ++i) {
    which[i] = i;
    CHECK(pthread_create(&threads[i], NULL, runMany, &which[i]) == 0);
  }
  for (int i = 0; i < most; ++i)
    CHECK(pthread_join(threads[i], NULL) == 0);
}

static void sleepFor(long microseconds) {
  struct timespec time = {0, microseconds * 1000};
  nanosleep(&time, NULL);
}

struct Canceller {
  mille_session *session;
  int stop;
};

static void *cancelOften(void *argument) {
  struct Canceller *self = argument;
  unsigned state = 1;
  while (!__atomic_load_n(&self->stop, __ATOMIC_ACQUIRE)) {
    state = state * 1664525 + 1013904223;
    sleepFor(state >> 22); /* up to 1 ms */
    CHECK(mille_session_cancel(self->session) == MILLE_OK);
  }
  return NULL;
}

/* A kernel that makes a run long enough to be met by a cancel. */
static void dawdle(int call) {
  (void)call;
  sleepFor(50);
}

static void cancelled(int threads) {
  float *hidden = malloc(sizeof wantedHidden[0]);
  float *pooled = malloc(sizeof wantedPooled[0]);
  const void *inputs[4] = {ids[0], NULL, NULL, NULL};
  float *outputs[2] = {hidden, pooled};
  struct Canceller canceller = {NULL, 0};
  CHECK(mille_session_create(package, batch, tokens, threads,
                             &canceller.session) == MILLE_OK);
  /* Without a run there is nothing to cancel. */
  CHECK(mille_session_cancel(canceller.session) == MILLE_OK);
  checkRun(canceller.session, 0, hidden, pooled);
  pthread_t thread;
  fake_on_kernel = dawdle;
  CHECK(pthread_create(&thread, NULL, cancelOften, &canceller) == 0);
  int stopped = 0;
  for (int i = 0; i < 20 * rounds && (i < rounds || !stopped); ++i) {
    mille_status status =
        mille_session_run(canceller.session, batch, tokens, inputs, outputs);
    CHECK(status == MILLE_OK || status == MILLE_CANCELLED);
    if (status == MILLE_CANCELLED) {
      EXPECT(status, MILLE_CANCELLED, mille_session_message(canceller.session),
             "the run was cancelled");
      ++stopped;
      continue;
    }
    CHECK(memcmp(hidden, wantedHidden[0], sizeof wantedHidden[0]) == 0);
  }
  CHECK(stopped > 0);
  __atomic_store_n(&canceller.stop, 1, __ATOMIC_RELEASE);
  CHECK(pthread_join(thread, NULL) == 0);
  fake_on_kernel = NULL;
  checkRun(canceller.session, 0, hidden, pooled);
  CHECK(mille_session_close(canceller.session) == MILLE_OK);
  free(hidden);
  free(pooled);
}

/* A cancel out of the fourth task: what has not begun does not, but for what
 * the other threads took at that moment. */
static mille_session *stopping;
static int begun, isCancelled, begunAfter, stoppedRuns;
static void cancelFromTask(int call) {
  (void)call;
  if (__atomic_load_n(&isCancelled, __ATOMIC_ACQUIRE))
    __atomic_add_fetch(&begunAfter, 1, __ATOMIC_RELAXED);
  if (__atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED) != 3)
    return;
  CHECK(mille_session_cancel(stopping) == MILLE_OK);
  __atomic_store_n(&isCancelled, 1, __ATOMIC_RELEASE);
}

static void cancelledFromTask(int threads) {
  static float hidden[rows * fakeHidden], pooled[batch * fakeHidden];
  const void *inputs[4] = {ids[0], NULL, NULL, NULL};
  float *outputs[2] = {hidden, pooled};
  CHECK(mille_session_create(package, batch, tokens, threads, &stopping) ==
        MILLE_OK);
  for (int i = 0; i < rounds; ++i) {
    begun = isCancelled = begunAfter = 0;
    fake_on_kernel = cancelFromTask;
    CHECK(mille_session_run(stopping, batch, tokens, inputs, outputs) ==
          MILLE_CANCELLED);
    fake_on_kernel = NULL;
    CHECK(begun >= 4 && begunAfter < threads);
    ++stoppedRuns;
    checkRun(stopping, 0, hidden, pooled);
  }
  CHECK(mille_session_close(stopping) == MILLE_OK);
}

/* A second run on a session whose run is under way is refused. */
static mille_session *busy;
static mille_status busyStatus;
static void runAgain(int call) {
  if (call != 1)
    return;
  const void *inputs[4] = {ids[0], NULL, NULL, NULL};
  float *outputs[2] = {wantedHidden[1], wantedPooled[1]}; /* not written */
  busyStatus = mille_session_run(busy, batch, tokens, inputs, outputs);
}

static void refusedWhileRunning(void) {
  float *hidden = malloc(sizeof wantedHidden[0]);
  float *pooled = malloc(sizeof wantedPooled[0]);
  CHECK(mille_session_create(package, batch, tokens, 1, &busy) == MILLE_OK);
  fake_on_kernel = runAgain;
  checkRun(busy, 0, hidden, pooled);
  fake_on_kernel = NULL;
  CHECK(busyStatus == MILLE_INVALID_ARGUMENT);
  CHECK(mille_session_close(busy) == MILLE_OK);
  free(hidden);
  free(pooled);
}

/* Opening and closing, the log told each time. */
static int lines;
static void takeLine(void *user, const char *line) {
  CHECK(user == &lines && line[0] && !strchr(line, '\n'));
  ++lines;
}

static void storm(const char *path, int count) {
  mille_options options = MILLE_OPTIONS_INIT;
  options.log = takeLine;
  options.log_user = &lines;
  for (int i = 0; i < count; ++i) {
    mille_package *mine;
    mille_session *session;
    CHECK(mille_package_open(fake_model(), path, &options, &mine, NULL, 0) ==
          MILLE_OK);
    CHECK(mille_session_create(mine, 1 + i % 3, 8, 1 + i % 4, &session) ==
          MILLE_OK);
    CHECK(mille_package_close(mine) == MILLE_OK);
    CHECK(mille_session_close(session) == MILLE_OK);
  }
  CHECK(lines == 2 * count);
}

/* Creates that fail at the same time: each thread reads its own sentence. */
static void *failOften(void *argument) {
  int which = *(int *)argument;
  char part[64];
  snprintf(part, sizeof part, "threads is %d but must be 0 to 64", 65 + which);
  for (int i = 0; i < rounds * 8; ++i) {
    mille_session *session;
    CHECK(mille_session_create(package, batch, tokens, 65 + which, &session) ==
          MILLE_INVALID_ARGUMENT);
    CHECK(strcmp(mille_package_message(package), part) == 0);
  }
  return NULL;
}

static void failingCreates(void) {
  pthread_t threads[most];
  int which[most];
  for (int i = 0; i < most; ++i) {
    which[i] = i;
    CHECK(pthread_create(&threads[i], NULL, failOften, &which[i]) == 0);
  }
  for (int i = 0; i < most; ++i)
    CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(strcmp(mille_package_message(package), "") == 0);
}

/* Profiling is switched and read between runs only. */
static void *profileOften(void *argument) {
  struct Canceller *self = argument;
  mille_profile profile;
  for (int i = 0; !__atomic_load_n(&self->stop, __ATOMIC_ACQUIRE); ++i) {
    mille_status status = mille_session_profile(self->session, i % 2);
    CHECK(status == MILLE_OK || status == MILLE_INVALID_ARGUMENT);
    status = mille_session_kernel(self->session, 0, &profile);
    CHECK(status == MILLE_OK || status == MILLE_INVALID_ARGUMENT);
    sleepFor(10);
  }
  return NULL;
}

static void profiling(void) {
  struct Canceller other = {NULL, 0};
  pthread_t thread;
  static float hidden[rows * fakeHidden], pooled[batch * fakeHidden];
  CHECK(mille_session_create(package, batch, tokens, 3, &other.session) ==
        MILLE_OK);
  CHECK(pthread_create(&thread, NULL, profileOften, &other) == 0);
  for (int done = 0; done < rounds * 8;) {
    const void *inputs[4] = {ids[0], NULL, NULL, NULL};
    float *outputs[2] = {hidden, pooled};
    mille_status status =
        mille_session_run(other.session, batch, tokens, inputs, outputs);
    /* The other call was under way. */
    CHECK(status == MILLE_OK || status == MILLE_INVALID_ARGUMENT);
    if (status != MILLE_OK)
      continue;
    ++done;
    CHECK(memcmp(hidden, wantedHidden[0], sizeof hidden) == 0);
  }
  __atomic_store_n(&other.stop, 1, __ATOMIC_RELEASE);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(mille_session_close(other.session) == MILLE_OK);
}

int main(int argc, char **argv) {
  CHECK(argc == 3);
  rounds = atoi(argv[2]);
  fake_write_weights(argv[1]);
  for (int i = 0; i < most; ++i) {
    for (int m = 0; m < rows; ++m)
      ids[i][m] = (m * 7 + i) % fakeVocabulary;
    fake_expected(batch, tokens, ids[i], NULL, NULL, wantedHidden[i],
                  wantedPooled[i]);
  }
  CHECK(mille_package_open(fake_model(), argv[1], NULL, &package, NULL, 0) ==
        MILLE_OK);
  sideBySide();
  cancelled(1);
  cancelled(3);
  cancelledFromTask(1);
  cancelledFromTask(3);
  refusedWhileRunning();
  failingCreates();
  profiling();
  storm(argv[1], 8 * rounds);
  CHECK(mille_package_close(package) == MILLE_OK);
  printf("%d runs cancelled, each thread ended its task at most\n",
         stoppedRuns);
  return 0;
}
