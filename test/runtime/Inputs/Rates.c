/* Trainers: rates, and the order of data. */
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
  /* That of earlier builds: a training goes on with the data it has not had. */
  static const uint64_t first[] = {70, 7, 735, 924, 475, 21, 95, 488},
                        far[] = {857995806, 1472583958, 1928785265, 897371930};
  for (uint64_t i = 0; i < 8; ++i)
    CHECK(mille_data_order(9, 1, i, 1000) == first[i]);
  for (uint64_t i = 0; i < 4; ++i)
    CHECK(mille_data_order(9, 1, i, 5000000000) == far[i]);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  mkdir(argv[1], 0777);
  CHECK(chdir(argv[1]) == 0);
  checkRates();
  checkOrder();
  return 0;
}
