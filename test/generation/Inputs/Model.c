/* A compiled model through the generation room, as an application has it: a
 * sequence has the same logits, bit by bit, alone, beside up to 16 others,
 * forked, saved and opened, with guesses: model WEIGHTS FILE MARGIN [guess]
 * Its hidden states are within MARGIN of those that `forward` has. */
#include "tiny.h"

#include "mille_generation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { texts = 3, steps = 8, context = 40, most = 512 };
/* Outputs beside the logits, where the package has them. */
enum { others = 2 };
static const char *const names[others] = {"last_hidden_state", "hidden_states"};

static const mille_generation_runtime runtime = MILLE_GENERATION_RUNTIME;
static const int32_t prompts[texts][12] = {
    {1, 5, 2}, {7, 3, 9, 1, 2, 4, 8, 11, 13, 6, 2, 1}, {4, 4, 6, 1, 2}};
static const size_t lengths[texts] = {3, 12, 5};

typedef struct {
  int32_t ids[steps];
  float logits[steps][most];
  float outputs[steps][others][most];
  size_t sizes[others]; /* 0: the package has none */
} Text;

static void check(int holds, const char *what, const mille_generation *g) {
  if (holds)
    return;
  fprintf(stderr, "%s: %s\n", what, mille_generation_message(g));
  exit(1);
}
#define CHECK(truth) check(truth, #truth, g)

static mille_generation *made(mille_package *package, int64_t sequences,
                              int64_t guesses, int threads) {
  mille_generation_options options = MILLE_GENERATION_OPTIONS_INIT;
  mille_generation *g = NULL;
  char why[512] = "";
  options.sequences = sequences;
  options.context = context;
  options.piece = 5;
  options.guesses = guesses;
  options.threads = threads;
  if (mille_generation_create(&runtime, package, &options, &g, why,
                              sizeof why) != MILLE_OK)
    fprintf(stderr, "%s\n", why);
  CHECK(g != NULL);
  CHECK(mille_generation_vocabulary(g) <= most);
  return g;
}

/* Draws the id of step n; its logits must be known. */
static void step(mille_generation *g, int64_t s, Text *text, int n,
                 int guesses) {
  mille_sampling sampling = MILLE_SAMPLING_INIT;
  const float *logits;
  size_t count;
  sampling.temperature = 1.5;
  sampling.seed = 11;
  CHECK(mille_sequence_logits(g, s, &logits, &count) == MILLE_OK);
  memcpy(text->logits[n], logits, count * sizeof *logits);
  for (int o = 0; o < others; ++o) {
    const float *numbers;
    text->sizes[o] = 0;
    if (mille_sequence_output(g, s, names[o], &numbers, &count) != MILLE_OK)
      continue;
    CHECK(count <= most);
    memcpy(text->outputs[n][o], numbers, count * sizeof *numbers);
    text->sizes[o] = count;
  }
  CHECK(mille_sequence_sample(g, s, &sampling, &text->ids[n]) == MILLE_OK);
  CHECK(mille_sequence_append(g, s, &text->ids[n], 1) == MILLE_OK);
  if (guesses)
    CHECK(mille_sequence_guess_ngram(g, s, NULL) == MILLE_OK);
}

static void alone(mille_package *package, int t, Text *text) {
  mille_generation *g = made(package, 1, 0, 1);
  int64_t s;
  CHECK(mille_sequence_open(g, &s) == MILLE_OK);
  CHECK(mille_sequence_append(g, s, prompts[t], lengths[t]) == MILLE_OK);
  for (int n = 0; n < steps; ++n) {
    CHECK(mille_generation_decode(g) == MILLE_OK);
    step(g, s, text, n, 0);
  }
  mille_generation_close(g);
}

static void checkSame(const mille_generation *g, const Text *a, const Text *b,
                      int first) {
  for (int n = first; n < steps; ++n) {
    CHECK(a->ids[n] == b->ids[n]);
    CHECK(memcmp(a->logits[n], b->logits[n], sizeof a->logits[n]) == 0);
    CHECK(memcmp(a->outputs[n], b->outputs[n], sizeof a->outputs[n]) == 0);
    CHECK(memcmp(a->sizes, b->sizes, sizeof a->sizes) == 0);
  }
}

/* All in one generation; the last one joins later, and rests now and then. */
static void together(mille_package *package, int64_t guesses,
                     const Text *plain) {
  static Text own[texts];
  mille_generation *g = made(package, texts, guesses, 2);
  int64_t s[texts];
  int done[texts] = {0};
  for (int t = 0; t < texts; ++t)
    CHECK(mille_sequence_open(g, &s[t]) == MILLE_OK);
  for (int round = 0; done[texts - 1] < steps; ++round) {
    if (round == 0)
      for (int t = 0; t < texts - 1; ++t)
        CHECK(mille_sequence_append(g, s[t], prompts[t], lengths[t]) ==
              MILLE_OK);
    if (round == 2)
      CHECK(mille_sequence_append(g, s[2], prompts[2], lengths[2]) == MILLE_OK);
    CHECK(mille_generation_decode(g) == MILLE_OK);
    for (int t = 0; t < texts; ++t)
      if (done[t] < steps && (t < texts - 1 || (round >= 2 && round % 3)) &&
          (t != 0 || round % 4 != 1))
        step(g, s[t], &own[t], done[t]++, guesses > 0);
  }
  for (int t = 0; t < texts; ++t)
    checkSame(g, &own[t], &plain[t], 0);
  mille_generation_close(g);
}

/* Forked in the middle, and saved there and opened elsewhere. */
static void parted(mille_package *package, const char *path,
                   const Text *plain) {
  enum { half = steps / 2, text = 1 };
  static Text own, forked, opened;
  mille_generation *g = made(package, 2, 0, 1);
  int64_t s, fork, other;
  CHECK(mille_sequence_open(g, &s) == MILLE_OK);
  CHECK(mille_sequence_append(g, s, prompts[text], lengths[text]) == MILLE_OK);
  for (int n = 0; n < half; ++n) {
    CHECK(mille_generation_decode(g) == MILLE_OK);
    step(g, s, &own, n, 0);
  }
  CHECK(mille_generation_decode(g) == MILLE_OK);
  CHECK(mille_sequence_save(g, s, path) == MILLE_OK);
  CHECK(mille_sequence_fork(g, s, lengths[text] + half, &fork) == MILLE_OK);
  for (int n = half; n < steps; ++n) {
    CHECK(mille_generation_decode(g) == MILLE_OK);
    step(g, fork, &forked, n, 0);
  }
  checkSame(g, &forked, &plain[text], half);
  CHECK(mille_sequence_rewind(g, fork, lengths[text] + 1) == MILLE_OK);
  for (int n = 1; n < steps; ++n) {
    CHECK(mille_generation_decode(g) == MILLE_OK);
    step(g, fork, &forked, n, 0);
  }
  checkSame(g, &forked, &plain[text], 1);
  mille_generation_close(g);

  g = made(package, 1, 0, 2);
  CHECK(mille_sequence_load(g, path, &other) == MILLE_OK);
  for (int n = half; n < steps; ++n) {
    CHECK(mille_generation_decode(g) == MILLE_OK);
    step(g, other, &opened, n, 0);
  }
  checkSame(g, &opened, &plain[text], half);
  mille_generation_close(g);
}

/* Sequences first to first + count - 1, which have unequal lengths, in one
 * generation: the logits of each behind its prompt and two more ids. */
enum { batched = 17, more = 3 };
static void batch(mille_package *package, int first, int count,
                  float (*logits)[more][most]) {
  mille_generation *g = made(package, count, 0, 2);
  int64_t s[batched];
  for (int i = 0; i < count; ++i) {
    const int number = first + i;
    CHECK(mille_sequence_open(g, &s[i]) == MILLE_OK);
    for (int n = 0; n < 1 + number * 7 % 13; ++n) {
      const int32_t id = (number * 5 + n * n + 1) % 17;
      CHECK(mille_sequence_append(g, s[i], &id, 1) == MILLE_OK);
    }
  }
  for (int n = 0; n < more; ++n) {
    CHECK(mille_generation_decode(g) == MILLE_OK);
    for (int i = 0; i < count; ++i) {
      const int32_t id = (first + i + n) % 17;
      const float *own;
      size_t size;
      CHECK(mille_sequence_logits(g, s[i], &own, &size) == MILLE_OK);
      memcpy(logits[i][n], own, size * sizeof *own);
      CHECK(mille_sequence_append(g, s[i], &id, 1) == MILLE_OK);
    }
  }
  mille_generation_close(g);
}

/* Any number of sequences in a step: each has the bits of one by itself. */
static void batches(mille_package *package) {
  static float plain[batched][more][most], together[batched][more][most];
  const mille_generation *g = NULL;
  for (int i = 0; i < batched; ++i)
    batch(package, i, 1, &plain[i]);
  for (int count = 2; count <= batched; ++count) {
    batch(package, 0, count, together);
    CHECK(memcmp(together, plain, (size_t)count * sizeof *plain) == 0);
  }
  CHECK(memcmp(plain[0], plain[1], sizeof *plain) != 0);
}

/* The outputs behind the last id but one are those that `forward` has there, to
 * which all of a text's ids but the last are one run. */
static void asForward(mille_package *package, int t, const Text *text,
                      float margin) {
  static float all[4][texts * context * most];
  float *outputs[4] = {all[0], all[1], all[2], all[3]};
  const int64_t tokens = (int64_t)lengths[t] + steps - 1;
  const mille_size sizes[] = {{"batch", 1}, {"tokens", tokens}};
  const void *inputs[8] = {NULL};
  int32_t ids[context];
  mille_session *session;
  mille_entry_info forward;
  const mille_generation *g = NULL;
  memcpy(ids, prompts[t], lengths[t] * sizeof *ids);
  memcpy(ids + lengths[t], text->ids, (steps - 1) * sizeof *ids);
  inputs[0] = ids;
  CHECK(mille_package_entry(package, 0, &forward) == MILLE_OK);
  CHECK(forward.inputs <= 8 && forward.outputs <= 4);
  CHECK(mille_session_create(package, 1, tokens, 1, &session) == MILLE_OK);
  CHECK(mille_session_run_entry(session, 0, sizes, 2, inputs, outputs) ==
        MILLE_OK);
  for (size_t i = 0; i < forward.outputs; ++i) {
    mille_tensor output;
    CHECK(mille_package_entry_output(package, 0, i, &output) == MILLE_OK);
    for (int o = 0; o < others; ++o) {
      const int64_t width = output.shape[output.rank - 1];
      const size_t parts = text->sizes[o] / (size_t)width;
      if (strcmp(output.name, names[o]))
        continue;
      CHECK(parts == (o ? (size_t)output.shape[0] : 1));
      for (size_t n = 0; n < text->sizes[o]; ++n) {
        const size_t part = n / (size_t)width, column = n % (size_t)width;
        const float
            got = text->outputs[steps - 1][o][n],
            want = all[i][((size_t)tokens * (part + 1) - 1) * (size_t)width +
                          column];
        CHECK(got - want < margin && want - got < margin);
      }
    }
  }
  mille_session_close(session);
}

int main(int count, char **arguments) {
  static Text plain[texts];
  mille_package *package;
  char why[512] = "";
  if (mille_package_open(tiny_model(), arguments[1], NULL, &package, why,
                         sizeof why) != MILLE_OK) {
    fprintf(stderr, "%s\n", why);
    return 1;
  }
  for (int t = 0; t < texts; ++t)
    alone(package, t, &plain[t]);
  for (int t = 0; t < texts; ++t)
    asForward(package, t, &plain[t], strtof(arguments[3], NULL));
  together(package, 0, plain);
  if (count > 4)
    together(package, 3, plain);
  parted(package, arguments[2], plain);
  batches(package);
  mille_package_close(package);
  printf("the same bits alone, together, parted%s; outputs: %zu, %zu\n",
         count > 4 ? ", guessed" : "", plain->sizes[0], plain->sizes[1]);
  return 0;
}
