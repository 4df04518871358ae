/* A compiled model whose steps another thread cancels while they run:
 * cancelled WEIGHTS. A step that is decoded again goes on, and the logits have
 * the bits of steps that nobody cancels. */
#include "tiny.h"

#include "mille_generation.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { texts = 2, steps = 6, context = 40, most = 512 };
enum { rounds = 100, mostRounds = 2000 };
static const int32_t prompts[texts][12] = {
    {7, 3, 9, 1, 2, 4, 8, 11, 13, 6, 2, 1}, {4, 4, 6, 1, 2, 9, 5}};
static const size_t lengths[texts] = {12, 7};

static const mille_generation_runtime plain = MILLE_GENERATION_RUNTIME;
static mille_generation *generation; /* whose steps are cancelled, or null */
static int asked, done, ends;        /* cancels; the other thread ends */
static int budget;                   /* cancels that are left for a step */
static long cut, between;            /* runs, and steps between two runs */

static void check(int holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "not so: %s: %s\n", what,
          generation ? mille_generation_message(generation) : "");
  exit(1);
}
#define CHECK(truth) check(truth, #truth)

static int load(const int *number) {
  return __atomic_load_n(number, __ATOMIC_SEQ_CST);
}

static void *cancel(void *unused) {
  for (int seen = 0; !load(&ends); sched_yield())
    if (load(&asked) != seen) {
      /* Some time later, so that runs are cut anywhere. */
      for (volatile int wait = seen * 7919 % 30000; wait > 0; --wait)
        ;
      CHECK(mille_generation_cancel(generation) == MILLE_OK);
      __atomic_store_n(&done, ++seen, __ATOMIC_SEQ_CST);
    }
  return unused;
}

/* The package's own run, in which the other thread is asked to cancel. It has
 * done so before this returns, be it too late for this run. */
static mille_status run(mille_session *session, size_t entry,
                        const mille_size *sizes, size_t count,
                        const void *const *inputs, float *const *outputs) {
  const int cancels = budget > 0;
  if (cancels) {
    --budget;
    __atomic_add_fetch(&asked, 1, __ATOMIC_SEQ_CST);
  }
  const mille_status status =
      plain.session_run_entry(session, entry, sizes, count, inputs, outputs);
  while (load(&done) != load(&asked))
    sched_yield();
  cut += status == MILLE_CANCELLED;
  CHECK(cancels || status == MILLE_OK);
  return status;
}

/* Decodes until it is not cancelled, which happens `cancels` times at most. */
static void decode(mille_generation *g, int cancels) {
  mille_status status;
  budget = cancels;
  do {
    const long before = cut;
    status = mille_generation_decode(g);
    CHECK(status == MILLE_OK || status == MILLE_CANCELLED);
    between += status == MILLE_CANCELLED && cut == before;
  } while (status == MILLE_CANCELLED);
  budget = 0;
}

/* All texts beside each other, a prompt in pieces of 5 tokens. */
static void texted(mille_package *package, int cancels,
                   float (*logits)[steps][most]) {
  mille_generation_options options = MILLE_GENERATION_OPTIONS_INIT;
  mille_generation_runtime runtime = plain;
  mille_generation *g = NULL;
  int64_t s[texts];
  runtime.session_run_entry = run;
  options.sequences = texts;
  options.context = context;
  options.piece = 5;
  options.threads = 2;
  CHECK(mille_generation_create(&runtime, package, &options, &g, NULL, 0) ==
        MILLE_OK);
  generation = g;
  CHECK(mille_generation_vocabulary(g) <= most);
  for (int t = 0; t < texts; ++t) {
    CHECK(mille_sequence_open(g, &s[t]) == MILLE_OK);
    CHECK(mille_sequence_append(g, s[t], prompts[t], lengths[t]) == MILLE_OK);
  }
  for (int n = 0; n < steps; ++n) {
    decode(g, cancels);
    for (int t = 0; t < texts; ++t) {
      const int32_t id = (n * 5 + t) % 16;
      const float *own;
      size_t count;
      CHECK(mille_sequence_logits(g, s[t], &own, &count) == MILLE_OK);
      memcpy(logits[t][n], own, count * sizeof *own);
      CHECK(mille_sequence_append(g, s[t], &id, 1) == MILLE_OK);
    }
  }
  mille_generation_close(g);
  generation = NULL;
}

int main(int count, char **arguments) {
  static float alone[texts][steps][most], again[texts][steps][most];
  mille_package *package;
  pthread_t thread;
  char why[512] = "";
  CHECK(count == 2);
  if (mille_package_open(tiny_model(), arguments[1], NULL, &package, why,
                         sizeof why) != MILLE_OK) {
    fprintf(stderr, "%s\n", why);
    return 1;
  }
  texted(package, 0, alone);
  CHECK(!cut && !between);
  CHECK(pthread_create(&thread, NULL, cancel, NULL) == 0);
  for (int round = 0; round < rounds || (!cut && round < mostRounds); ++round) {
    texted(package, 1 + round % 4, again);
    CHECK(memcmp(again, alone, sizeof alone) == 0);
  }
  __atomic_store_n(&ends, 1, __ATOMIC_SEQ_CST);
  CHECK(pthread_join(thread, NULL) == 0);
  mille_package_close(package);
  CHECK(cut > 0);
  CHECK(between > 0);
  printf("the same bits where runs are cancelled, and steps between runs\n");
  return 0;
}
