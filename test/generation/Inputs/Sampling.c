/* How an id is drawn from logits that the test says: each number's effect, and
 * what is refused. */
#include "FakeRuntime.h"

#include <math.h>

enum { vocabulary = 6 };
static float logits[vocabulary];
static mille_package package = {
    .next = 1, .vocabulary = vocabulary, .hash = 1, .logits = logits};
static mille_generation *g;
static int64_t s;

static void say(float a, float b, float c, float d, float e, float f) {
  const float all[vocabulary] = {a, b, c, d, e, f};
  memcpy(logits, all, sizeof logits);
}

/* The sequence holds these ids, and the logits are known. */
static void hold(size_t count, const int32_t *ids) {
  CHECK(mille_sequence_rewind(g, s, 0) == MILLE_OK);
  CHECK(mille_sequence_append(g, s, ids, count) == MILLE_OK);
  CHECK(mille_generation_decode(g) == MILLE_OK);
}

static int32_t draw(const mille_sampling *sampling) {
  int32_t id = -1;
  CHECK(mille_sequence_sample(g, s, sampling, &id) == MILLE_OK);
  return id;
}

/* How often of 4000 seeds each id is drawn. */
static void count(mille_sampling sampling, int *counts) {
  memset(counts, 0, vocabulary * sizeof *counts);
  for (sampling.seed = 0; sampling.seed < 4000; ++sampling.seed)
    ++counts[draw(&sampling)];
}

static mille_sampling plain(double temperature) {
  mille_sampling sampling = MILLE_SAMPLING_INIT;
  sampling.temperature = temperature;
  sampling.top_k = 0;
  sampling.top_p = 1;
  sampling.min_p = 0;
  return sampling;
}

static const int32_t held[] = {1, 1, 3, 1};

static void greedy(void) {
  mille_sampling sampling = plain(0);
  say(1, 5, 2, 5, NAN, -1);
  hold(1, held);
  CHECK(draw(&sampling) == 1); /* of equal ones the lowest; NaN never */
  say(-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY);
  hold(1, held);
  CHECK(draw(&sampling) == 0);
}

/* The likeliest of more ids than vectors have lanes is the one that is drawn of
 * all that a mask allows: there is a way of its own for it. */
static void greedyOfMany(void) {
  enum { many = 37 };
  static float those[many];
  mille_package wide = {
      .next = 1, .vocabulary = many, .hash = 1, .logits = those};
  mille_generation_options options = MILLE_GENERATION_OPTIONS_INIT;
  const uint64_t all = ~0ull;
  char why[512];
  mille_generation *other;
  int64_t of;
  CHECK(mille_generation_create(&fakeRuntime, &wide, &options, &other, why,
                                sizeof why) == MILLE_OK);
  CHECK(mille_sequence_open(other, &of) == MILLE_OK);
  for (uint32_t turn = 0, seed = 1; turn < 500; ++turn) {
    for (int i = 0; i < many; ++i) {
      seed = seed * 1664525u + 1013904223u;
      const int drawn = seed >> 24;
      those[i] = drawn < 8 ? NAN : drawn < 16 ? -INFINITY : drawn / 8;
      if (turn % 50 == 0) /* none is above -INFINITY */
        those[i] = drawn < 99 ? NAN : -INFINITY;
    }
    mille_sampling sampling = plain(0);
    int32_t alone, ofMask;
    CHECK(mille_sequence_rewind(other, of, 0) == MILLE_OK);
    CHECK(mille_sequence_append(other, of, held, 1) == MILLE_OK);
    CHECK(mille_generation_decode(other) == MILLE_OK);
    CHECK(mille_sequence_sample(other, of, &sampling, &alone) == MILLE_OK);
    sampling.allowed = &all;
    CHECK(mille_sequence_sample(other, of, &sampling, &ofMask) == MILLE_OK);
    CHECK(alone == ofMask);
  }
  mille_generation_close(other);
}

static void shares(void) {
  int counts[vocabulary];
  mille_sampling sampling = plain(1);
  /* 0.5, 0.25, 0.125, 0.125 */
  say(3 * logf(2), 2 * logf(2), logf(2), logf(2), -INFINITY, -INFINITY);
  hold(1, held);
  count(sampling, counts);
  CHECK(abs(counts[0] - 2000) < 150 && abs(counts[1] - 1000) < 120);
  CHECK(abs(counts[2] - 500) < 90 && abs(counts[3] - 500) < 90);
  CHECK(counts[4] == 0 && counts[5] == 0);
  sampling.temperature = 0.5; /* 16 : 4 : 1 : 1 */
  count(sampling, counts);
  CHECK(abs(counts[0] - 2909) < 150 && abs(counts[1] - 727) < 120);

  sampling = plain(1);
  sampling.top_k = 2; /* 2 : 1 */
  count(sampling, counts);
  CHECK(abs(counts[0] - 2667) < 150 && counts[0] + counts[1] == 4000);
  sampling = plain(1);
  sampling.top_p = 0.8; /* the fewest that have it: three, the lowest id */
  count(sampling, counts);
  CHECK(counts[2] > 0 && counts[3] == 0);
  sampling.top_p = 0.5;
  count(sampling, counts);
  CHECK(counts[0] == 4000);
  sampling = plain(1);
  sampling.min_p = 0.3;
  count(sampling, counts);
  CHECK(counts[1] > 0 && counts[2] + counts[3] == 0);
  /* The surprises are 1, 2, 3 and 3 bits, expected are 1.75: id 1 is nearest,
   * then id 0. */
  sampling = plain(1);
  sampling.typical = 0.2;
  count(sampling, counts);
  CHECK(counts[1] == 4000);
  sampling.typical = 0.5;
  count(sampling, counts);
  CHECK(counts[0] + counts[1] == 4000 && counts[0] > counts[1]);
}

/* The seed and the place decide, and nothing else. */
static void places(void) {
  mille_sampling sampling = plain(2), other = plain(2);
  int differ = 0, moved = 0;
  int32_t before = -1;
  other.seed = 4;
  say(1, 3, 2, 3, -1, 0);
  CHECK(mille_sequence_rewind(g, s, 0) == MILLE_OK);
  for (int place = 0; place < 100; ++place) {
    CHECK(mille_sequence_append(g, s, held, 1) == MILLE_OK);
    CHECK(mille_generation_decode(g) == MILLE_OK);
    const int32_t id = draw(&sampling);
    differ += draw(&other) != id;
    moved += id != before;
    before = id;
    CHECK(draw(&sampling) == id);
  }
  CHECK(differ > 20 && moved > 20);
}

static void penalties(void) {
  mille_sampling sampling = plain(0);
  say(0, 4, 0, 3.5f, 3, -2);
  hold(4, held);
  CHECK(draw(&sampling) == 1);
  sampling.repetition_penalty = 2; /* 1: 2, 3: 1.75 */
  CHECK(draw(&sampling) == 4);
  sampling = plain(0);
  sampling.presence_penalty = 0.75; /* 1: 3.25, 3: 2.75 */
  CHECK(draw(&sampling) == 1);
  sampling.presence_penalty = 1.25; /* 1: 2.75 */
  CHECK(draw(&sampling) == 4);
  sampling = plain(0);
  sampling.frequency_penalty = 0.4; /* 1, thrice: 2.8; 3: 3.1 */
  CHECK(draw(&sampling) == 3);
  sampling.repeat_last = 1; /* 1, once: 3.6 */
  CHECK(draw(&sampling) == 1);
  /* A negative logit is multiplied. */
  say(-1, -0.9f, -3, -3, -3, -3);
  hold(4, held);
  sampling = plain(0);
  sampling.repetition_penalty = 2;
  CHECK(draw(&sampling) == 0);
}

static void biases(void) {
  const int32_t ids[] = {1, 4};
  const double added[] = {-INFINITY, 2};
  const uint64_t only = 1 << 2, none = 1 << 6;
  mille_sampling sampling = plain(0);
  int32_t id = -1;
  say(0, 9, 1, 2.5f, 1, 0);
  hold(1, held);
  sampling.bias_ids = ids;
  sampling.biases = added;
  sampling.bias_count = 2;
  CHECK(draw(&sampling) == 4);
  sampling.allowed = &only;
  CHECK(draw(&sampling) == 2);
  sampling = plain(1);
  sampling.allowed = &only;
  CHECK(draw(&sampling) == 2);
  sampling.allowed = &none;
  EXPECT(mille_sequence_sample(g, s, &sampling, &id), MILLE_INVALID_INPUT, g,
         "the mask allows none of the 6 ids");
  sampling = plain(1);
  const int32_t outside = 6;
  sampling.bias_ids = &outside;
  sampling.biases = added;
  sampling.bias_count = 1;
  EXPECT(mille_sequence_sample(g, s, &sampling, &id), MILLE_INVALID_INPUT, g,
         "a bias is of id 6 but the vocabulary of model fake has 6 ids");
  CHECK(id == -1);
}

static void probabilities(void) {
  int32_t ids[3];
  double logprobs[3], own;
  const float *row;
  size_t count;
  say(3 * logf(2), 2 * logf(2), logf(2), logf(2), -INFINITY, NAN);
  hold(1, held);
  CHECK(mille_sequence_likeliest(g, s, 3, ids, logprobs) == MILLE_OK);
  CHECK(ids[0] == 0 && ids[1] == 1 && ids[2] == 2);
  CHECK(fabs(logprobs[0] - log(0.5)) < 1e-6);
  CHECK(fabs(logprobs[2] - log(0.125)) < 1e-6);
  CHECK(mille_sequence_logprob(g, s, 3, &own) == MILLE_OK);
  CHECK(own == logprobs[2]);
  CHECK(mille_sequence_logprob(g, s, 5, &own) == MILLE_OK);
  CHECK(own == -INFINITY);
  CHECK(mille_sequence_logits(g, s, &row, &count) == MILLE_OK);
  CHECK(count == vocabulary && memcmp(row, logits, sizeof logits) == 0);
  EXPECT(mille_sequence_logprob(g, s, 6, &own), MILLE_INVALID_INPUT, g,
         "id 6 is not in the vocabulary of model fake, which has 6 ids");
  EXPECT(mille_sequence_likeliest(g, s, 7, ids, logprobs),
         MILLE_INVALID_ARGUMENT, g,
         "7 ids are asked for but the vocabulary of model fake has 6");
}

#define REFUSED(field, value, text)                                            \
  do {                                                                         \
    mille_sampling sampling = MILLE_SAMPLING_INIT;                             \
    int32_t id = 0;                                                            \
    sampling.field = value;                                                    \
    EXPECT(mille_sequence_sample(g, s, &sampling, &id),                        \
           MILLE_INVALID_ARGUMENT, g, text);                                   \
  } while (0)

static void refusals(void) {
  REFUSED(temperature, -1, "temperature is -1 but must be at least 0");
  REFUSED(temperature, NAN, "temperature is nan but must be at least 0");
  REFUSED(top_k, -1, "top_k is -1 but must be at least 0");
  REFUSED(typical, 0, "typical is 0 but must be above 0, at most 1");
  REFUSED(top_p, 0, "top_p is 0 but must be above 0, at most 1");
  REFUSED(min_p, 1.5, "min_p is 1.5 but must be 0 to 1");
  REFUSED(repetition_penalty, 0, "repetition_penalty is 0 but must be above 0");
  REFUSED(presence_penalty, INFINITY, "presence_penalty is inf but must be");
  REFUSED(frequency_penalty, NAN, "frequency_penalty is nan but must be");
  REFUSED(repeat_last, -2, "repeat_last is -2 but must be at least 0");
  REFUSED(bias_count, 1, "bias_ids or biases is null");
  REFUSED(size, 8, "start from MILLE_SAMPLING_INIT");
}

int main(void) {
  mille_generation_options options = MILLE_GENERATION_OPTIONS_INIT;
  char why[512];
  CHECK(mille_generation_create(&fakeRuntime, &package, &options, &g, why,
                                sizeof why) == MILLE_OK);
  CHECK(mille_sequence_open(g, &s) == MILLE_OK);
  greedy();
  greedyOfMany();
  shares();
  places();
  penalties();
  biases();
  probabilities();
  refusals();
  mille_generation_close(g);
  puts("drawn as it says");
  return 0;
}
