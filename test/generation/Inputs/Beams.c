/* Beams on a runtime that tells each sequence from any other: what is found,
 * its score, what may come, what is left behind; sources of an encoder. */
#include "FakeRuntime.h"

#include <math.h>

enum { context = 24, most = 10 };
static const int32_t end = 3;

static mille_generation *made(mille_package *package, int64_t sequences) {
  mille_generation_options options = MILLE_GENERATION_OPTIONS_INIT;
  mille_generation *g = NULL;
  char why[512] = "";
  options.sequences = sequences;
  options.context = context;
  options.source = 6;
  if (mille_generation_create(&fakeRuntime, package, &options, &g, why,
                              sizeof why) != MILLE_OK)
    fprintf(stderr, "%s\n", why);
  CHECK(g != NULL);
  return g;
}

static int64_t opened(mille_generation *g, const int32_t *ids, size_t count) {
  int64_t s;
  CHECK(mille_sequence_open(g, &s) == MILLE_OK);
  CHECK(mille_sequence_append(g, s, ids, count) == MILLE_OK);
  return s;
}

static mille_beams usual(int64_t beams) {
  mille_beams wanted = MILLE_BEAMS_INIT;
  wanted.beams = beams;
  wanted.most = most;
  wanted.ends = &end;
  wanted.end_count = 1;
  return wanted;
}

typedef struct {
  int32_t ids[most];
  size_t count;
  double score;
} Found;

static Found found(mille_generation *g, int64_t s, const mille_beams *wanted) {
  Found best = {{0}, 0, 0};
  const int32_t *ids;
  EXPECT(mille_sequence_beams(g, s, wanted, &ids, &best.count, &best.score),
         MILLE_OK, g, "");
  CHECK(best.count >= 1 && best.count <= most);
  memcpy(best.ids, ids, best.count * sizeof *ids);
  return best;
}

static int isSame(const Found *a, const Found *b) {
  return a->count == b->count && a->score == b->score &&
         !memcmp(a->ids, b->ids, a->count * sizeof *a->ids);
}

/* The sum of an answer's log-probabilities, id by id. */
static double sumOf(mille_generation *g, int64_t s, const Found *best) {
  double sum = 0, one;
  for (size_t i = 0; i < best->count; ++i) {
    CHECK(mille_generation_decode(g) == MILLE_OK);
    CHECK(mille_sequence_logprob(g, s, best->ids[i], &one) == MILLE_OK);
    sum += one;
    CHECK(mille_sequence_append(g, s, &best->ids[i], 1) == MILLE_OK);
  }
  return sum;
}

static const int32_t prompt[] = {5, 9, 2};

/* One beam takes the likeliest id at each step. */
static void oneBeamIsGreedy(mille_package *package) {
  mille_generation *g = made(package, 1);
  const int64_t s = opened(g, prompt, 3);
  const mille_beams wanted = usual(1);
  const Found best = found(g, s, &wanted);
  mille_sampling greedy = MILLE_SAMPLING_INIT;
  greedy.temperature = 0;
  for (size_t i = 0; i < best.count; ++i) {
    int32_t id;
    CHECK(mille_generation_decode(g) == MILLE_OK);
    CHECK(mille_sequence_sample(g, s, &greedy, &id) == MILLE_OK);
    CHECK(id == best.ids[i]);
    CHECK(mille_sequence_append(g, s, &id, 1) == MILLE_OK);
  }
  CHECK(best.count == most || best.ids[best.count - 1] == end);
  mille_generation_close(g);
}

/* The score is what the ids have; more beams find nothing worse here; the
 * sequences beside are as before. */
static void scores(mille_package *package) {
  mille_generation *g = made(package, 10);
  const int64_t other = opened(g, prompt, 2), s = opened(g, prompt, 3);
  Found before, own;
  const float *logits;
  size_t count;
  float kept[fakeVocabulary];
  CHECK(mille_generation_decode(g) == MILLE_OK);
  CHECK(mille_sequence_logits(g, other, &logits, &count) == MILLE_OK);
  memcpy(kept, logits, sizeof kept);
  for (int64_t beams = 1; beams <= 8; ++beams)
    for (int stop = 0; stop <= 2; ++stop) {
      mille_beams wanted = usual(beams);
      const int32_t *ids;
      wanted.stop = (mille_beams_stop)stop;
      wanted.length_penalty = stop ? 0.7 : 1.3;
      own = found(g, s, &wanted);
      before = found(g, s, &wanted);
      CHECK(isSame(&own, &before));
      CHECK(mille_sequence_ids(g, s, &ids, &count) == MILLE_OK);
      CHECK(count == 3 && !memcmp(ids, prompt, sizeof prompt));
      const double sum = sumOf(g, s, &own);
      CHECK(fabs(sum / pow((double)own.count, wanted.length_penalty) -
                 own.score) < 1e-9);
      CHECK(mille_sequence_rewind(g, s, 3) == MILLE_OK);
    }
  CHECK(mille_generation_decode(g) == MILLE_OK);
  CHECK(mille_sequence_logits(g, other, &logits, &count) == MILLE_OK);
  CHECK(!memcmp(kept, logits, sizeof kept));
  mille_generation_close(g);
}

/* What is forced comes, what is banned does not. */
static void rules(mille_package *package) {
  static const int32_t banned[] = {1, 6, 11, 7}, first[] = {0, 2, 4, 8};
  mille_generation *g = made(package, 4);
  const int64_t s = opened(g, prompt, 3);
  mille_beams wanted = usual(4);
  wanted.banned = banned;
  wanted.banned_count = 4;
  wanted.banned_first = first;
  wanted.banned_first_count = 4;
  wanted.least = 6;
  wanted.no_repeat = 2;
  wanted.last = end;
  const Found best = found(g, s, &wanted);
  CHECK(best.count > 6 && best.ids[best.count - 1] == end);
  int32_t all[3 + most];
  memcpy(all, prompt, sizeof prompt);
  memcpy(all + 3, best.ids, best.count * sizeof *all);
  for (size_t i = 0; i < best.count; ++i) {
    for (int b = 0; b < 4; ++b)
      CHECK(best.ids[i] != banned[b] && (i || best.ids[i] != first[b]));
    CHECK(i + 1 == best.count || best.ids[i] != end);
  }
  /* The end was forced where nothing else may come: it alone may repeat. */
  for (size_t i = 1; i + 1 < best.count + 3 - 1; ++i)
    for (size_t j = 0; j < i; ++j)
      CHECK(all[i] != all[j] || all[i + 1] != all[j + 1]);
  wanted.first = 12;
  CHECK(found(g, s, &wanted).ids[0] == 12);
  /* Answers that would end early end later. */
  int early = 0;
  for (int32_t id = 0; id < fakeVocabulary; ++id) {
    CHECK(mille_sequence_follow(g, s, &id, 1, NULL) == MILLE_OK);
    wanted = usual(2);
    wanted.length_penalty = 0;
    early += found(g, s, &wanted).count <= 6;
    wanted.least = 6;
    CHECK(found(g, s, &wanted).count > 6);
  }
  CHECK(early > 0);
  mille_generation_close(g);
}

/* Each sequence continues its own source. */
static void sources(mille_package *package, const char *path) {
  static const int32_t a[] = {40, 41, 42}, b[] = {40, 41}, far[] = {40, 100};
  const mille_beams wanted = usual(3);
  mille_package with = *package;
  with.source = 1;
  mille_generation *g = made(&with, 6);
  const int64_t s = opened(g, prompt, 1), t = opened(g, prompt, 1);
  EXPECT(mille_generation_decode(g), MILLE_INVALID_INPUT, g,
         "sequence 0 holds 1 tokens but no source");
  EXPECT(mille_sequence_source(g, s, a, 7), MILLE_TOO_LARGE, g,
         "the source has 7 tokens but there is room for 6");
  EXPECT(mille_sequence_source(g, s, far, 2), MILLE_INVALID_INPUT, g,
         "id 100 of place 1 of the source is not below 100");
  EXPECT(mille_sequence_source(g, s, a, 0), MILLE_INVALID_ARGUMENT, g,
         "a source has no ids");
  EXPECT(mille_sequence_source_values(g, s, NULL, 0), MILLE_INVALID_ARGUMENT, g,
         "the encoder of model fake takes ids, not numbers");
  CHECK(mille_sequence_source(g, s, a, 3) == MILLE_OK);
  CHECK(mille_sequence_append(g, s, prompt, 3) == MILLE_OK);
  CHECK(mille_sequence_source(g, t, b, 2) == MILLE_OK);
  CHECK(mille_sequence_append(g, t, prompt, 3) == MILLE_OK);
  const Found ofA = found(g, s, &wanted), ofB = found(g, t, &wanted);
  CHECK(!isSame(&ofA, &ofB));
  mille_generation *other = made(&with, 3);
  const int64_t alone = opened(other, prompt, 0);
  CHECK(mille_sequence_source(other, alone, a, 3) == MILLE_OK);
  CHECK(mille_sequence_append(other, alone, prompt, 3) == MILLE_OK);
  const Found ofAAlone = found(other, alone, &wanted);
  CHECK(isSame(&ofA, &ofAAlone));
  mille_generation_close(other);
  /* The other way round, and in a sequence of its own. */
  CHECK(mille_sequence_source(g, s, b, 2) == MILLE_OK);
  CHECK(mille_sequence_append(g, s, prompt, 3) == MILLE_OK);
  const Found again = found(g, s, &wanted), still = found(g, t, &wanted);
  CHECK(isSame(&again, &ofB) && isSame(&still, &ofB));
  /* A fork and a file have the source. */
  int64_t fork, loaded;
  CHECK(mille_sequence_fork(g, s, 2, &fork) == MILLE_OK);
  CHECK(mille_sequence_append(g, fork, prompt + 2, 1) == MILLE_OK);
  CHECK(mille_sequence_save(g, t, path) == MILLE_OK);
  CHECK(mille_sequence_close(g, t) == MILLE_OK);
  const Found forked = found(g, fork, &wanted);
  mille_generation_close(g);
  g = made(&with, 3);
  EXPECT(mille_sequence_load(g, path, &loaded), MILLE_OK, g, "");
  const Found fromFile = found(g, loaded, &wanted);
  CHECK(isSame(&forked, &ofB) && isSame(&fromFile, &ofB));
  mille_generation_close(g);
  g = made(package, 1);
  EXPECT(mille_sequence_source(g, opened(g, prompt, 1), a, 3),
         MILLE_INVALID_ARGUMENT, g,
         "model fake has no entry source: it has no encoder");
  mille_generation_close(g);
}

#define REFUSED(change, status, text)                                          \
  do {                                                                         \
    mille_beams wanted = usual(2);                                             \
    change;                                                                    \
    EXPECT(mille_sequence_beams(g, s, &wanted, &ids, &count, NULL), status, g, \
           text);                                                              \
  } while (0)

static void refused(mille_package *package) {
  static const int32_t every[] = {0, 1, 2,  3,  4,  5,  6,  7,
                                  8, 9, 10, 11, 12, 13, 14, 15};
  mille_generation *g = made(package, 2);
  const int64_t s = opened(g, prompt, 3);
  const int32_t *ids;
  size_t count;
  REFUSED(wanted.size = 1, MILLE_INVALID_ARGUMENT, "start from MILLE_BEAMS");
  REFUSED(wanted.beams = 0, MILLE_INVALID_ARGUMENT,
          "beams is 0 but must be 1 to 8");
  REFUSED(wanted.beams = 9, MILLE_INVALID_ARGUMENT,
          "beams is 9 but must be 1 to 8");
  REFUSED(wanted.beams = 3, MILLE_TOO_LARGE,
          "3 beams take 2 further sequences but 1 are left");
  REFUSED(wanted.length_penalty = NAN, MILLE_INVALID_ARGUMENT,
          "length_penalty is nan but must be finite");
  REFUSED(wanted.stop = (mille_beams_stop)3, MILLE_INVALID_ARGUMENT,
          "stop is 3 but must be 0 to 2");
  REFUSED(wanted.most = 0, MILLE_INVALID_ARGUMENT,
          "most is 0 but must be at least 1");
  REFUSED(wanted.most = 22, MILLE_TOO_LARGE,
          "beams would hold 25 tokens but there is room for 24");
  REFUSED(wanted.end_count = 65, MILLE_INVALID_ARGUMENT,
          "65 ids end a beam but at most 64 may");
  REFUSED(wanted.banned_count = 1, MILLE_INVALID_ARGUMENT,
          "ends, banned or banned_first is null");
  REFUSED(wanted.least = -1, MILLE_INVALID_ARGUMENT,
          "least is -1 and no_repeat 0 but neither may be below 0");
  REFUSED(wanted.first = 16, MILLE_INVALID_INPUT,
          "a forced id is 16 but the vocabulary has 16 ids");
  REFUSED((wanted.banned = every, wanted.banned_count = 16),
          MILLE_INVALID_INPUT, "no id may follow");
  CHECK(mille_sequence_rewind(g, s, 0) == MILLE_OK);
  REFUSED((void)0, MILLE_INVALID_ARGUMENT, "the sequence is empty");
  mille_generation_close(g);
}

int main(int count, char **arguments) {
  CHECK(count == 2);
  mille_package package = {.next = 1, .vocabulary = fakeVocabulary, .hash = 7};
  mille_package sums = package;
  sums.sums = 1;
  oneBeamIsGreedy(&package);
  scores(&package);
  scores(&sums);
  rules(&package);
  sources(&package, arguments[1]);
  refused(&package);
  printf("found as it says\n");
  return 0;
}
