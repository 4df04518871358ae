/* Times decode steps of a package that was compiled as `model`: one sequence
 * beside several, step by step in turn, behind prompts of several lengths.
 *
 *   mille compile MODEL.gguf --entries=next --name=model --dtype=q8_0 -o DIR
 *   cc -O2 -IDIR -Igeneration benchmarks/steps.c -o steps DIR/model.a
 *      build/lib/libmille_generation.a -lm -lpthread
 *   ./steps DIR/model.weights THREADS SEQUENCES CONTEXT...
 *
 * A line for each context: the medians in milliseconds, and their ratio. */
#define _POSIX_C_SOURCE 200112L
#include "model.h"

#include "mille_generation.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { steps = 40, mostSequences = 16 };

typedef struct {
  mille_generation *generation;
  int64_t of[mostSequences], count;
  double ms[steps];
} Side;

static int complain(const char *why) {
  fprintf(stderr, "%s\n", why);
  exit(1);
}

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1e3 + at.tv_nsec * 1e-6;
}

static void append(Side *side, int64_t number, int64_t tokens, uint32_t seed) {
  for (int64_t i = 0; i < tokens; ++i) {
    seed = seed * 1664525u + 1013904223u;
    int32_t id = (int32_t)(seed >> 8) %
                 (int32_t)mille_generation_vocabulary(side->generation);
    if (mille_sequence_append(side->generation, side->of[number], &id, 1))
      complain(mille_generation_message(side->generation));
  }
}

static double step(Side *side) {
  const double start = now();
  if (mille_generation_decode(side->generation))
    complain(mille_generation_message(side->generation));
  return now() - start;
}

static void open(Side *side, mille_package *package, int64_t sequences,
                 int64_t context, int threads) {
  const mille_generation_runtime runtime = MILLE_GENERATION_RUNTIME;
  mille_generation_options options = MILLE_GENERATION_OPTIONS_INIT;
  char why[512];
  options.sequences = side->count = sequences;
  options.context = context + steps + 1;
  options.threads = threads;
  if (mille_generation_create(&runtime, package, &options, &side->generation,
                              why, sizeof why))
    complain(why);
  for (int64_t s = 0; s < sequences; ++s) {
    mille_sequence_open(side->generation, &side->of[s]);
    append(side, s, context, (uint32_t)(s + 1));
  }
  step(side);
}

static int less(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}
static double median(Side *side) {
  qsort(side->ms, steps, sizeof *side->ms, less);
  return side->ms[steps / 2];
}

int main(int count, char **words) {
  mille_package *package;
  char why[512];
  if (count < 5)
    complain("steps WEIGHTS THREADS SEQUENCES CONTEXT...");
  const int threads = atoi(words[2]);
  const int64_t sequences = atoi(words[3]);
  if (sequences < 1 || sequences > mostSequences)
    complain("SEQUENCES must be 1 to 16");
  if (mille_package_open(model_model(), words[1], NULL, &package, why,
                         sizeof why))
    complain(why);
  for (int word = 4; word < count; ++word) {
    const int64_t context = atoi(words[word]);
    Side one, many;
    open(&one, package, 1, context, threads);
    open(&many, package, sequences, context, threads);
    for (int n = 0; n < steps; ++n) {
      append(&one, 0, 1, (uint32_t)n);
      one.ms[n] = step(&one);
      for (int64_t s = 0; s < sequences; ++s)
        append(&many, s, 1, (uint32_t)(n + s));
      many.ms[n] = step(&many);
    }
    const double first = median(&one), other = median(&many);
    printf("behind %d tokens: 1 sequence %.2f ms, %d sequences %.2f ms, %.2f\n",
           (int)context, first, (int)sequences, other, other / first);
    mille_generation_close(one.generation);
    mille_generation_close(many.generation);
  }
  return mille_package_close(package) != MILLE_OK;
}
