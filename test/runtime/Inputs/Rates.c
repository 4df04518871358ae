/* Trainers: rates, the order of data, and masks. */
#include "FakeTrainer.h"

static double rateOf(uint32_t schedule, int64_t step) {
  mille_training_info with = usual;
  with.schedule = schedule;
  with.peak = 2;
  with.end = 0.5;
  with.warmup = 4;
  with.steps = 12;
  with.optimizer = MILLE_OPTIMIZER_SGD;
  with.first = 0;
  mille_package *package = openPackage(&with);
  mille_trainer *trainer = trainerOf(package, 1);
  mille_step_report report = {0};
  for (int64_t at = 0; at <= step; ++at) {
    drawBatch(at);
    for (int m = 0; m < places; ++m)
      labels[m] = 0;
    CHECK(mille_trainer_step(trainer, most, 2, given, &report) == MILLE_OK);
  }
  mille_trainer_close(trainer);
  mille_package_close(package);
  return report.rate;
}

static void checkRates(void) {
  CHECK(rateOf(MILLE_RATE_CONSTANT, 0) == 0.5);
  CHECK(rateOf(MILLE_RATE_CONSTANT, 3) == 2);
  CHECK(rateOf(MILLE_RATE_CONSTANT, 9) == 2);
  CHECK(rateOf(MILLE_RATE_LINEAR, 4) == 2);
  CHECK(rateOf(MILLE_RATE_LINEAR, 8) == 1.25);
  CHECK(rateOf(MILLE_RATE_LINEAR, 14) == 0.5);
  CHECK(fabs(rateOf(MILLE_RATE_COSINE, 8) - 1.25) < 1e-15);
  CHECK(fabs(rateOf(MILLE_RATE_COSINE, 6) - (0.5 + 0.75 * (1 + sqrt(0.5)))) <
        1e-15);
  CHECK(rateOf(MILLE_RATE_INVERSE_SQRT, 3) == 2);
  CHECK(rateOf(MILLE_RATE_INVERSE_SQRT, 15) == 1);
}

static void checkOrder(void) {
  static char seen[1100];
  int moved = 0;
  for (uint64_t count = 1; count < 1100; count += count < 70 ? 1 : 257)
    for (uint64_t epoch = 0; epoch < 3; ++epoch) {
      memset(seen, 0, sizeof seen);
      for (uint64_t i = 0; i < count; ++i) {
        const uint64_t at = mille_data_order(9, epoch, i, count);
        CHECK(at < count && !seen[at]);
        seen[at] = 1;
        moved += at != mille_data_order(9, epoch + 1, i, count);
        moved += at != mille_data_order(8, epoch, i, count);
      }
    }
  CHECK(moved > 10000);
  CHECK(mille_data_order(1, 2, 3, 0) == 0);
  /* The order of earlier builds: a resumed training reads what is left. */
  static const uint64_t first[] = {70, 7, 735, 924, 475, 21, 95, 488},
                        far[] = {857995806, 1472583958, 1928785265, 897371930};
  for (uint64_t i = 0; i < 8; ++i)
    CHECK(mille_data_order(9, 1, i, 1000) == first[i]);
  for (uint64_t i = 0; i < 4; ++i)
    CHECK(mille_data_order(9, 1, i, 5000000000) == far[i]);
}

enum { sequenceTokens = 500 };
static const mille_masking bert = {0.15, 0.8, 0.1, 103, 1000};

/* Tokens of 200 to 899, whose mask is 103; every tenth is never chosen. */
static size_t maskOf(const mille_masking *how, uint64_t seed, uint64_t epoch,
                     uint64_t sequence, int32_t *tokens, int32_t *hidden) {
  uint8_t never[sequenceTokens];
  size_t chosen = 0;
  for (int t = 0; t < sequenceTokens; ++t) {
    tokens[t] = 200 + (int32_t)((sequence * 31 + (uint64_t)t * 7) % 700);
    never[t] = t % 10 == 0;
  }
  CHECK(mille_mask_tokens(how, seed, epoch, sequence, never, sequenceTokens,
                          tokens, hidden, &chosen) == MILLE_OK);
  return chosen;
}

/* Whether `found` of `all` lies within five standard deviations of a share. */
static int isNear(double found, double share, double all) {
  return fabs(found - share * all) < 5 * sqrt(share * (1 - share) * all);
}

static void checkMasks(void) {
  int32_t tokens[sequenceTokens], hidden[sequenceTokens], again[sequenceTokens],
      others[sequenceTokens];
  double all = 0, chosen = 0, replaced = 0, stayed = 0, random = 0, sum = 0;
  for (uint64_t sequence = 0; sequence < 400; ++sequence) {
    size_t given = maskOf(&bert, 3, 1, sequence, tokens, hidden), labels = 0;
    for (int t = 0; t < sequenceTokens; ++t) {
      const int32_t was =
          200 + (int32_t)((sequence * 31 + (uint64_t)t * 7) % 700);
      CHECK(hidden[t] == -100 || (hidden[t] == was && t % 10));
      CHECK(hidden[t] != -100 || tokens[t] == was);
      labels += hidden[t] != -100;
      all += t % 10 != 0;
      if (hidden[t] == -100)
        continue;
      replaced += tokens[t] == 103;
      stayed += tokens[t] == was;
      if (tokens[t] != 103 && tokens[t] != was) {
        CHECK(tokens[t] >= 0 && tokens[t] < 1000);
        ++random;
        sum += tokens[t];
      }
    }
    CHECK(given == labels);
    chosen += (double)labels;
  }
  CHECK(isNear(chosen, 0.15, all) && isNear(replaced, 0.8, chosen));
  CHECK(isNear(stayed, 0.1, chosen) && isNear(random, 0.1, chosen));
  CHECK(fabs(sum / random - 499.5) < 5 * 289 / sqrt(random));

  /* The same numbers give the same mask, each other number another. */
  const uint64_t key[] = {3, 1, 5};
  maskOf(&bert, key[0], key[1], key[2], tokens, hidden);
  maskOf(&bert, key[0], key[1], key[2], again, others);
  CHECK(memcmp(tokens, again, sizeof tokens) == 0);
  for (int changed = 0; changed < 3; ++changed)
    for (int bit = 0; bit < 64; bit += changed == 1 ? 64 : 32) {
      uint64_t other[] = {3, 1, 5};
      other[changed] ^= (uint64_t)1 << bit;
      maskOf(&bert, other[0], other[1], other[2], again, others);
      int differ = 0;
      for (int t = 0; t < sequenceTokens; ++t)
        differ += (hidden[t] == -100) != (others[t] == -100);
      CHECK(differ > 50);
    }
}

static void checkMaskEdges(void) {
  int32_t tokens[sequenceTokens], hidden[sequenceTokens];
  mille_masking how = bert;
  how.rate = 0; /* one, where none is chosen */
  CHECK(maskOf(&how, 3, 1, 5, tokens, hidden) == 1);
  how.rate = how.replaced = 1;
  how.random = 0;
  CHECK(maskOf(&how, 3, 1, 5, tokens, hidden) == 450);
  for (int t = 0; t < sequenceTokens; ++t)
    CHECK(t % 10 ? tokens[t] == 103 : hidden[t] == -100);
  const uint8_t never[2] = {1, 1};
  size_t chosen = 7;
  CHECK(mille_mask_tokens(&how, 3, 1, 5, never, 2, tokens, hidden, &chosen) ==
            MILLE_OK &&
        chosen == 0 && hidden[1] == -100);
  /* The masks of earlier builds: a resumed training has the same. */
  static const int32_t known[] = {11, 15, 29, 34, 35, 38, 43, 49, 59};
  int place = 0;
  maskOf(&bert, 9, 2, 77, tokens, hidden);
  for (int t = 0; t < 60; ++t)
    if (hidden[t] != -100) {
      CHECK(place < (int)(sizeof known / sizeof *known) && known[place] == t);
      ++place;
    }
  CHECK(place == (int)(sizeof known / sizeof *known));
  how.random = 0.1;
  CHECK(mille_mask_tokens(&how, 3, 1, 5, NULL, 2, tokens, hidden, &chosen) ==
        MILLE_INVALID_ARGUMENT);
  how = bert;
  how.id = 1000;
  CHECK(mille_mask_tokens(&how, 3, 1, 5, NULL, 2, tokens, hidden, &chosen) ==
        MILLE_INVALID_ARGUMENT);
  how = bert;
  how.rate = NAN;
  CHECK(mille_mask_tokens(&how, 3, 1, 5, NULL, 2, tokens, hidden, &chosen) ==
        MILLE_INVALID_ARGUMENT);
  CHECK(mille_mask_tokens(&bert, 3, 1, 5, NULL, 2, tokens, hidden, NULL) ==
        MILLE_INVALID_ARGUMENT);
}

int main(int argc, char **argv) {
  enterFolder(argc, argv);
  checkRates();
  checkOrder();
  checkMasks();
  checkMaskEdges();
  return 0;
}
