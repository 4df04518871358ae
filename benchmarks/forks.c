/* Times forks of a sequence of a package that was compiled as `model`, and the
 * steps of forks side by side.
 *
 *   mille compile MODEL.gguf --entries=next --name=model --dtype=q8_0 -o DIR
 *   cc -O2 -IDIR -Igeneration benchmarks/forks.c -o forks DIR/model.a
 *      build/lib/libmille_generation.a -lm -lpthread
 *   ./forks DIR/model.weights THREADS SEQUENCES CONTEXT...
 *
 * A line for each context: medians in milliseconds, of steps of one sequence
 * too. */
#define _POSIX_C_SOURCE 200112L
#include "model.h"

#include "mille_generation.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { steps = 24, mostSequences = 16 };

static mille_generation *generation;

static int complain(const char *why) {
  fprintf(stderr, "%s\n", why);
  exit(1);
}
static void check(mille_status status) {
  if (status)
    complain(mille_generation_message(generation));
}

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1e3 + at.tv_nsec * 1e-6;
}

static int less(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}
static double median(double *ms) {
  qsort(ms, steps, sizeof *ms, less);
  return ms[steps / 2];
}

static void append(int64_t sequence, uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  const int32_t id =
      (int32_t)((*seed >> 8) %
                (uint32_t)mille_generation_vocabulary(generation));
  check(mille_sequence_append(generation, sequence, &id, 1));
}

/* The median step of `count` sequences that each get a token. */
static double stepOf(const int64_t *of, int64_t count, uint32_t *seed) {
  double ms[steps];
  for (int n = 0; n < steps; ++n) {
    for (int64_t s = 0; s < count; ++s)
      append(of[s], seed);
    const double start = now();
    check(mille_generation_decode(generation));
    ms[n] = now() - start;
  }
  return median(ms);
}

int main(int count, char **words) {
  const mille_generation_runtime runtime = MILLE_GENERATION_RUNTIME;
  mille_package *package;
  char why[512];
  if (count < 5)
    complain("forks WEIGHTS THREADS SEQUENCES CONTEXT...");
  mille_generation_options options = MILLE_GENERATION_OPTIONS_INIT;
  options.threads = atoi(words[2]);
  options.sequences = atoi(words[3]);
  if (options.sequences < 2 || options.sequences > mostSequences)
    complain("SEQUENCES must be 2 to 16");
  if (mille_package_open(model_model(), words[1], NULL, &package, why,
                         sizeof why))
    complain(why);
  for (int word = 4; word < count; ++word) {
    const int64_t held = atoi(words[word]);
    int64_t of[mostSequences];
    uint32_t seed = 1;
    double ms[steps];
    options.context = held + 2 * steps;
    if (mille_generation_create(&runtime, package, &options, &generation, why,
                                sizeof why))
      complain(why);
    check(mille_sequence_open(generation, &of[0]));
    for (int64_t t = 0; t < held; ++t)
      append(of[0], &seed);
    check(mille_generation_decode(generation));
    const double one = stepOf(of, 1, &seed);
    for (int n = 0; n < steps; ++n) {
      const double start = now();
      check(mille_sequence_fork(generation, of[0], held + steps, &of[1]));
      ms[n] = now() - start;
      check(mille_sequence_close(generation, of[1]));
    }
    for (int64_t s = 1; s < options.sequences; ++s)
      check(mille_sequence_fork(generation, of[0], held + steps, &of[s]));
    const double all = stepOf(of, options.sequences, &seed);
    printf("behind %d tokens: a fork %.3f ms, a step of one %.2f ms, of %d "
           "forks %.2f ms\n",
           (int)held, median(ms), one, (int)options.sequences, all);
    mille_generation_close(generation);
  }
  return mille_package_close(package) != MILLE_OK;
}
