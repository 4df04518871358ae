/* Guesses change no id and no logit, and save runs: of a draft, of n-grams, of
 * the application's, right and wrong. */
#include "FakeRuntime.h"

enum { context = 48, guesses = 4, drawn = 40 };
static mille_package model = {
    .next = 1, .extend = 1, .vocabulary = fakeVocabulary, .hash = 1};

static mille_generation *made(mille_package *package, int64_t most,
                              int64_t room) {
  mille_generation_options options = MILLE_GENERATION_OPTIONS_INIT;
  mille_generation *generation;
  options.context = room;
  options.guesses = most;
  options.sequences = 2;
  CHECK(mille_generation_create(&fakeRuntime, package, &options, &generation,
                                NULL, 0) == MILLE_OK);
  return generation;
}

typedef struct {
  int32_t ids[drawn];
  float logits[drawn][fakeVocabulary];
  int64_t runs;
} Text;

/* How guesses are made: what to call behind an id that was appended. */
typedef void Guesser(mille_generation *g, int64_t s, const Text *plain, int n);

static mille_generation *drafts;
static int64_t draft;

static void none(mille_generation *g, int64_t s, const Text *plain, int n) {
  (void)g, (void)s, (void)plain, (void)n;
}
static void right(mille_generation *g, int64_t s, const Text *plain, int n) {
  const size_t left = (size_t)(drawn - 1 - n);
  CHECK(mille_sequence_guess(g, s, plain->ids + n + 1, left) == MILLE_OK);
}
/* Every third is wrong. */
static void partly(mille_generation *g, int64_t s, const Text *plain, int n) {
  int32_t ids[guesses] = {0};
  for (int i = 0; i < guesses && n + 1 + i < drawn; ++i)
    ids[i] = (plain->ids[n + 1 + i] + ((n + i) % 3 == 0)) % fakeVocabulary;
  CHECK(mille_sequence_guess(g, s, ids, guesses) == MILLE_OK);
}
static void ngram(mille_generation *g, int64_t s, const Text *plain, int n) {
  (void)plain, (void)n;
  CHECK(mille_sequence_guess_ngram(g, s, NULL) == MILLE_OK);
}
static void smaller(mille_generation *g, int64_t s, const Text *plain, int n) {
  size_t count;
  (void)plain, (void)n;
  CHECK(mille_sequence_guess_draft(g, s, drafts, draft, &count) == MILLE_OK);
}

static void generate(Guesser *guess, double temperature, const Text *plain,
                     Text *text) {
  const int32_t prompt[] = {1, 5, 2, 9, 3, 7, 4};
  mille_sampling sampling = MILLE_SAMPLING_INIT;
  mille_generation *g = made(&model, guess == none ? 0 : guesses, context);
  const float *logits;
  size_t size;
  int64_t s, rests;
  sampling.temperature = temperature;
  CHECK(mille_sequence_open(g, &rests) == MILLE_OK);
  CHECK(mille_sequence_open(g, &s) == MILLE_OK);
  CHECK(mille_sequence_append(g, s, prompt, 7) == MILLE_OK);
  CHECK(mille_generation_decode(g) == MILLE_OK);
  text->runs = -model.runs;
  for (int n = 0; n < drawn; ++n) {
    CHECK(mille_sequence_logits(g, s, &logits, &size) == MILLE_OK);
    memcpy(text->logits[n], logits, size * sizeof *logits);
    CHECK(mille_sequence_sample(g, s, &sampling, &text->ids[n]) == MILLE_OK);
    CHECK(mille_sequence_append(g, s, &text->ids[n], 1) == MILLE_OK);
    guess(g, s, plain, n);
    CHECK(mille_generation_decode(g) == MILLE_OK);
  }
  text->runs += model.runs;
  mille_generation_close(g);
}

static int64_t check(const char *name, Guesser *guess, double temperature,
                     const Text *plain) {
  static Text text;
  generate(guess, temperature, plain, &text);
  CHECK(memcmp(text.ids, plain->ids, sizeof text.ids) == 0);
  CHECK(memcmp(text.logits, plain->logits, sizeof text.logits) == 0);
  printf("%s: %lld runs\n", name, (long long)text.runs);
  return text.runs;
}

static void refusals(void) {
  mille_package other = model;
  const int32_t outside = fakeVocabulary;
  int64_t s, t;
  mille_generation *g = made(&model, guesses, context);
  other.vocabulary = fakeVocabulary + 1;
  mille_generation *h = made(&other, 0, context);
  CHECK(mille_sequence_open(g, &s) == MILLE_OK);
  CHECK(mille_sequence_open(h, &t) == MILLE_OK);
  EXPECT(mille_sequence_guess_draft(g, s, h, t, NULL), MILLE_INVALID_ARGUMENT,
         g,
         "the vocabulary of draft model fake has 17 ids but that of model fake "
         "has 16");
  EXPECT(mille_sequence_guess_draft(g, s, h, t + 1, NULL),
         MILLE_INVALID_ARGUMENT, g, "the draft model: sequence 1 is not open");
  EXPECT(mille_sequence_guess_draft(g, s, g, s, NULL), MILLE_INVALID_ARGUMENT,
         g, "drafts is the generation itself");
  EXPECT(mille_sequence_guess(g, s, &outside, 1), MILLE_INVALID_INPUT, g,
         "guess 0 is id 16 but the vocabulary of model fake has 16 ids");
  mille_generation_close(g);
  mille_generation_close(h);
}

int main(void) {
  static Text plain;
  for (int hot = 0; hot < 2; ++hot) {
    generate(none, hot, NULL, &plain);
    CHECK(plain.runs == drawn);
    CHECK(check("right", right, hot, &plain) == 8);
    CHECK(check("partly", partly, hot, &plain) < drawn);
    check("ngram", ngram, hot, &plain);
    /* The model itself as its draft, then one that is full too early. */
    mille_package same = model;
    for (int64_t room = context; room > 0; room -= context / 2) {
      drafts = made(&same, 0, room);
      CHECK(mille_sequence_open(drafts, &draft) == MILLE_OK);
      const int64_t runs = check("draft", smaller, hot, &plain);
      CHECK(hot || room < context || runs == 8);
      CHECK(hot || runs < drawn);
      mille_generation_close(drafts);
    }
  }
  refusals();
  puts("guesses change nothing");
  return 0;
}
