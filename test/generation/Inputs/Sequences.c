/* Sequences beside each other, forked, rewound, in pieces: each has the logits
 * of a sequence by itself; and what is refused. */
#include "FakeRuntime.h"

static mille_package packages[] = {
    {.next = 1, .vocabulary = fakeVocabulary, .hash = 1},   /* next */
    {.extend = 1, .vocabulary = fakeVocabulary, .hash = 1}, /* extend */
    {.next = 1,
     .extend = 1,
     .vocabulary = fakeVocabulary,
     .hash = 1}, /* both */
    {.next = 1,
     .extend = 1,
     .sums = 1,
     .vocabulary = fakeVocabulary,
     .hash = 1}}; /* both, with sums */

static mille_generation *made(mille_package *package, int64_t sequences,
                              int64_t context, int64_t piece) {
  mille_generation_options options = MILLE_GENERATION_OPTIONS_INIT;
  mille_generation *generation;
  char why[512] = "";
  options.sequences = sequences;
  options.context = context;
  options.piece = piece;
  CHECK(mille_generation_create(&fakeRuntime, package, &options, &generation,
                                why, sizeof why) == MILLE_OK);
  return generation;
}

/* Whether the logits are those of the ids it holds, run by itself. */
static void checkLogits(mille_generation *g, int64_t s,
                        mille_package *package) {
  const int32_t *ids;
  const float *logits, *expected;
  size_t count, size;
  int64_t own;
  mille_generation *alone = made(package, 1, 64, 64);
  CHECK(mille_sequence_ids(g, s, &ids, &count) == MILLE_OK);
  CHECK(mille_sequence_open(alone, &own) == MILLE_OK);
  CHECK(mille_sequence_append(alone, own, ids, count) == MILLE_OK);
  CHECK(mille_generation_decode(alone) == MILLE_OK);
  CHECK(mille_sequence_logits(alone, own, &expected, &size) == MILLE_OK);
  CHECK(mille_sequence_logits(g, s, &logits, &size) == MILLE_OK);
  CHECK(size == fakeVocabulary);
  CHECK(memcmp(logits, expected, size * sizeof *logits) == 0);
  mille_generation_close(alone);
}

static void append(mille_generation *g, int64_t s, int32_t first,
                   size_t count) {
  int32_t ids[64];
  for (size_t i = 0; i < count; ++i)
    ids[i] = (int32_t)((first + (int32_t)(i * i)) % fakeVocabulary);
  CHECK(mille_sequence_append(g, s, ids, count) == MILLE_OK);
}

static size_t bytesOf(mille_package *package, int64_t sequences,
                      int64_t context) {
  mille_generation *g = made(package, sequences, context, 5);
  size_t bytes = 0;
  CHECK(mille_generation_memory(g, &bytes) == MILLE_OK);
  CHECK(mille_generation_memory(g, NULL) == MILLE_INVALID_ARGUMENT);
  mille_generation_close(g);
  return bytes;
}

/* Of the ids of each sequence and each of 8 beams that end; the fake session
 * grows with neither. */
static void memory(mille_package *package) {
  const size_t few = bytesOf(package, 4, 32), more = bytesOf(package, 4, 64);
  CHECK(few > fakeSessionBytes);
  CHECK(more - few == (4 + 8) * 32 * sizeof(int32_t));
  CHECK(bytesOf(package, 5, 32) > few);
}

static void unequal(mille_package *package) {
  mille_generation *g = made(package, 4, 32, 5);
  int64_t s[4];
  for (int i = 0; i < 4; ++i)
    CHECK(mille_sequence_open(g, &s[i]) == MILLE_OK);
  append(g, s[0], 1, 1);
  append(g, s[1], 2, 17);
  append(g, s[3], 3, 6);
  CHECK(mille_generation_decode(g) == MILLE_OK);
  checkLogits(g, s[0], package);
  checkLogits(g, s[1], package);
  checkLogits(g, s[3], package);
  /* Some rest; one of them is full. */
  append(g, s[1], 4, 15);
  append(g, s[2], 5, 2);
  CHECK(mille_generation_decode(g) == MILLE_OK);
  append(g, s[3], 6, 1);
  for (int i = 0; i < 4; ++i)
    if (i != 3)
      checkLogits(g, s[i], package);
  CHECK(mille_generation_decode(g) == MILLE_OK);
  for (int i = 0; i < 4; ++i)
    checkLogits(g, s[i], package);
  const int64_t runs = package->runs;
  CHECK(mille_generation_decode(g) == MILLE_OK); /* nothing to do */
  CHECK(package->runs == runs);
  /* A closed one is another's then. */
  CHECK(mille_sequence_close(g, s[1]) == MILLE_OK);
  CHECK(mille_sequence_open(g, &s[1]) == MILLE_OK);
  append(g, s[1], 9, 3);
  append(g, s[0], 9, 3);
  CHECK(mille_generation_decode(g) == MILLE_OK);
  for (int i = 0; i < 4; ++i)
    checkLogits(g, s[i], package);
  mille_generation_close(g);
}

static void forks(mille_package *package) {
  mille_generation *g = made(package, 3, 32, 8);
  int64_t s, whole, half;
  CHECK(mille_sequence_open(g, &s) == MILLE_OK);
  append(g, s, 3, 9);
  CHECK(mille_generation_decode(g) == MILLE_OK);
  const int64_t rows = package->rows;
  CHECK(mille_sequence_fork(g, s, 9, &whole) == MILLE_OK);
  CHECK(mille_sequence_fork(g, s, 4, &half) == MILLE_OK);
  checkLogits(g, whole, package);
  CHECK(package->rows - rows == 9); /* of the check alone */
  append(g, whole, 1, 2);
  append(g, half, 2, 3);
  append(g, s, 7, 1);
  CHECK(mille_generation_decode(g) == MILLE_OK);
  checkLogits(g, s, package);
  checkLogits(g, whole, package);
  checkLogits(g, half, package);
  EXPECT(mille_sequence_fork(g, s, 4, &half), MILLE_TOO_LARGE, g,
         "all 3 sequences are open");
  EXPECT(mille_sequence_fork(g, s, 11, &half), MILLE_INVALID_ARGUMENT, g,
         "length is 11 but the sequence holds 10 tokens");
  /* In the place of one that was closed. */
  CHECK(mille_sequence_close(g, half) == MILLE_OK);
  CHECK(mille_sequence_fork(g, s, 10, &half) == MILLE_OK);
  checkLogits(g, half, package);
  mille_generation_close(g);
}

static void rewinds(mille_package *package) {
  mille_generation *g = made(package, 1, 32, 8);
  const int32_t ids[] = {3, 4, 7, 1, 1, 2};
  const float *logits;
  size_t kept, count;
  int64_t s;
  CHECK(mille_sequence_open(g, &s) == MILLE_OK);
  append(g, s, 3, 9);
  CHECK(mille_generation_decode(g) == MILLE_OK);
  CHECK(mille_sequence_rewind(g, s, 9) == MILLE_OK);
  checkLogits(g, s, package);
  for (int64_t length = 8; length > 0; length -= 3) {
    CHECK(mille_sequence_rewind(g, s, length) == MILLE_OK);
    EXPECT(mille_sequence_logits(g, s, &logits, &count), MILLE_INVALID_ARGUMENT,
           g, "decode first");
    CHECK(mille_generation_decode(g) == MILLE_OK);
    checkLogits(g, s, package);
  }
  append(g, s, 5, 3);
  CHECK(mille_generation_decode(g) == MILLE_OK);
  checkLogits(g, s, package);
  CHECK(mille_sequence_rewind(g, s, 0) == MILLE_OK);
  append(g, s, 3, 5);
  CHECK(mille_generation_decode(g) == MILLE_OK);
  CHECK(mille_sequence_follow(g, s, ids, 6, &kept) == MILLE_OK);
  CHECK(kept == 3);
  CHECK(mille_generation_decode(g) == MILLE_OK);
  checkLogits(g, s, package);
  CHECK(mille_sequence_follow(g, s, ids, 4, &kept) == MILLE_OK);
  CHECK(kept == 4);
  CHECK(mille_generation_decode(g) == MILLE_OK);
  checkLogits(g, s, package);
  EXPECT(mille_sequence_rewind(g, s, 5), MILLE_INVALID_ARGUMENT, g,
         "length is 5 but the sequence holds 4 tokens");
  mille_generation_close(g);
}

/* Where states have dropped what the next run would read all ids run again. */
static void drops(mille_package *package) {
  mille_generation *g = made(package, 2, 32, 8);
  int64_t s, fork;
  CHECK(mille_sequence_open(g, &s) == MILLE_OK);
  append(g, s, 3, 9);
  CHECK(mille_generation_decode(g) == MILLE_OK);
  for (int64_t length = 8; length > 6; --length) {
    const int64_t rows = package->rows;
    package->least = 7;
    CHECK(mille_sequence_rewind(g, s, length) == MILLE_OK);
    CHECK(mille_generation_decode(g) == MILLE_OK);
    CHECK(package->rows - rows == (length == 8 && !package->sums ? 1 : length));
  }
  package->least = 6; /* where the one that rests runs again */
  CHECK(mille_sequence_fork(g, s, 3, &fork) == MILLE_OK);
  CHECK(mille_generation_decode(g) == MILLE_OK);
  package->least = 0;
  checkLogits(g, s, package);
  checkLogits(g, fork, package);
  mille_generation_close(g);
}

/* A run that fails leaves what is held, and the next one goes on. */
static void failures(mille_package *package) {
  mille_generation *g = made(package, 2, 8, 3);
  const int32_t outside[] = {1, fakeVocabulary}, negative = -1;
  mille_sampling sampling = MILLE_SAMPLING_INIT;
  int64_t s, other, third;
  int32_t id;
  CHECK(mille_sequence_open(g, &s) == MILLE_OK);
  CHECK(mille_sequence_open(g, &other) == MILLE_OK);
  EXPECT(mille_sequence_open(g, &third), MILLE_TOO_LARGE, g,
         "all 2 sequences are open");
  EXPECT(mille_sequence_sample(g, s, &sampling, &id), MILLE_INVALID_ARGUMENT, g,
         "the sequence is empty: it has no token to continue");
  append(g, s, 1, 6);
  append(g, other, 2, 2);
  package->fails = MILLE_CANCELLED;
  EXPECT(mille_generation_decode(g), MILLE_CANCELLED, g, "the session says so");
  EXPECT(mille_sequence_sample(g, s, &sampling, &id), MILLE_INVALID_ARGUMENT, g,
         "the sequence holds 6 tokens that have not all run: decode first");
  package->cancels = g; /* the first piece still runs */
  EXPECT(mille_generation_decode(g), MILLE_CANCELLED, g,
         "the step was cancelled");
  CHECK(mille_generation_decode(g) == MILLE_OK);
  checkLogits(g, s, package);
  checkLogits(g, other, package);
  append(g, s, 3, 1);
  package->fails = MILLE_CANCELLED;
  EXPECT(mille_generation_decode(g), MILLE_CANCELLED, g, "the session says so");
  CHECK(mille_sequence_rewind(g, s, 6) == MILLE_OK);
  CHECK(mille_generation_decode(g) == MILLE_OK);
  checkLogits(g, s, package);
  checkLogits(g, other, package);
  EXPECT(mille_sequence_append(g, s, outside, 2), MILLE_INVALID_INPUT, g,
         "id 16 of place 1 is not in the vocabulary of model fake, which has "
         "16 ids");
  EXPECT(mille_sequence_append(g, s, &negative, 1), MILLE_INVALID_INPUT, g,
         "id -1 of place 0");
  int32_t many[9] = {0};
  EXPECT(mille_sequence_append(g, s, many, 3), MILLE_TOO_LARGE, g,
         "the sequence would hold 9 tokens but there is room for 8");
  EXPECT(mille_sequence_follow(g, s, many, 9, NULL), MILLE_TOO_LARGE, g,
         "the sequence would hold 9 tokens but there is room for 8");
  checkLogits(g, s, package);
  CHECK(mille_sequence_close(g, s) == MILLE_OK);
  EXPECT(mille_sequence_close(g, s), MILLE_INVALID_ARGUMENT, g,
         "sequence 0 is not open");
  mille_generation_close(g);
}

static void refused(mille_package package, int64_t sequences, int64_t guesses,
                    const char *text) {
  mille_generation_options options = MILLE_GENERATION_OPTIONS_INIT;
  mille_generation *generation;
  char why[512] = "";
  options.sequences = sequences;
  options.guesses = guesses;
  CHECK(mille_generation_create(&fakeRuntime, &package, &options, &generation,
                                why, sizeof why) == MILLE_INVALID_ARGUMENT);
  CHECK(!generation);
  if (!strstr(why, text)) {
    fprintf(stderr, "%s\n", why);
    exit(1);
  }
}

int main(void) {
  for (size_t i = 0; i < sizeof packages / sizeof *packages; ++i) {
    memory(&packages[i]);
    unequal(&packages[i]);
    forks(&packages[i]);
    rewinds(&packages[i]);
    drops(&packages[i]);
    failures(&packages[i]);
  }
  mille_package none = packages[0], wants = packages[0];
  none.next = 0;
  wants.wants = 1;
  refused(none, 1, 0, "model fake has neither the entry next nor extend");
  refused(wants, 1, 0, "entry next wants the input pixel_values");
  refused(packages[0], 1, 4, "model fake has no entry extend, which guesses");
  refused(packages[3], 1, 4, "running sums, which cannot forget a guess");
  refused(packages[0], 0, 0, "sequences is 0 but must be 1 to 65536");
  refused(packages[2], 1, 65, "guesses is 65 but must be 0 to 64");
  puts("each as by itself");
  return 0;
}
