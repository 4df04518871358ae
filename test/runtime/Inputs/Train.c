/* Trainers: optimizers, bits, refusals, rates, the order of data. */
#include "FakeTrainer.h"

/* ---- Every optimizer beside its formula in double ---- */

typedef struct {
  double w[rows * columns + factors], g[rows * columns + factors],
      m[rows * columns + factors], v[rows * columns + factors];
} numbers;
enum { all = rows * columns + factors };

static double lossAndGradient(numbers *n) {
  double loss = 0;
  int count = 0;
  memset(n->g, 0, sizeof n->g);
  for (int m = 0; m < places; ++m)
    count += labels[m] != -100;
  for (int m = 0; m < places; ++m) {
    const int at = ids[m] * columns + columnOf(ids[m], m % tokens),
              by = rows * columns + ids[m] % factors;
    const double missing = n->w[at] * n->w[by] - labels[m];
    if (labels[m] == -100)
      continue;
    loss += missing * missing / 2 / count;
    n->g[at] += missing * n->w[by] / count;
    n->g[by] += missing * n->w[at] / count;
  }
  return loss;
}

static void updateGroup(numbers *n, int from, int to, double rate, double decay,
                        double scale, int64_t step) {
  const mille_training_info *t = &training;
  const double first = 1 - pow(t->first, step),
               second = 1 - pow(t->second, step);
  double weight = 0, length = 0;
  for (int i = from; i < to; ++i) {
    double g = n->g[i] * scale, *w = &n->w[i], *m = &n->m[i], *v = &n->v[i];
    if (t->optimizer == MILLE_OPTIMIZER_SGD) {
      *m = t->first * *m + g + decay * *w;
      *w -= rate * *m;
      continue;
    }
    if (t->optimizer == MILLE_OPTIMIZER_LION) {
      const double turn = t->first * *m + (1 - t->first) * g;
      *w = *w * (1 - rate * decay) - rate * ((turn > 0) - (turn < 0));
      *m = t->second * *m + (1 - t->second) * g;
      continue;
    }
    if (t->optimizer == MILLE_OPTIMIZER_ADAM)
      g += decay * *w;
    *m = t->first * *m + (1 - t->first) * g;
    *v = t->second * *v + (1 - t->second) * g * g;
    const double update = *m / first / (sqrt(*v / second) + t->epsilon);
    if (t->optimizer == MILLE_OPTIMIZER_ADAMW)
      *w *= 1 - rate * decay;
    if (t->optimizer != MILLE_OPTIMIZER_LAMB)
      *w -= rate * update;
    weight += *w * *w;
    length += (update + decay * *w) * (update + decay * *w);
  }
  for (int i = from; t->optimizer == MILLE_OPTIMIZER_LAMB && i < to; ++i) {
    const double trust = weight > 0 && length > 0 ? sqrt(weight / length) : 1;
    const double update =
        n->m[i] / first / (sqrt(n->v[i] / second) + t->epsilon);
    n->w[i] -= rate * trust * (update + decay * n->w[i]);
  }
}

static void checkOptimizer(uint32_t optimizer, double first, double clip,
                           double peak) {
  static numbers n;
  mille_training_info with = usual;
  with.optimizer = optimizer;
  with.first = first;
  with.clip = clip;
  with.peak = peak;
  mille_package *package = openPackage(&with);
  mille_trainer *trainer = trainerOf(package, 2);
  memset(&n, 0, sizeof n);
  for (int i = 0; i < rows * columns; ++i)
    n.w[i] = startOf(i);
  for (int i = 0; i < factors; ++i)
    n.w[rows * columns + i] = startOf(i);
  for (int64_t step = 0; step < 20; ++step) {
    mille_step_report report = stepOf(trainer, step);
    const double loss = lossAndGradient(&n);
    double norm = 0;
    for (int i = 0; i < all; ++i)
      norm += n.g[i] * n.g[i];
    norm = sqrt(norm);
    CHECK(fabs(report.loss - loss) < 1e-4 * (loss + 1));
    CHECK(fabs(report.gradient_norm - norm) < 1e-4 * (norm + 1));
    CHECK(report.labels == places - places / 5);
    CHECK(report.rate == peak);
    const double scale = clip > 0 && norm > clip ? clip / (norm + 1e-6) : 1;
    updateGroup(&n, 0, rows * columns, peak, 0.1, scale, step + 1);
    updateGroup(&n, rows * columns, all, peak / 2, 0, scale, step + 1);
  }
  drawBatch(20);
  double loss;
  int64_t count;
  CHECK(mille_trainer_evaluate(trainer, most, 2, given, &loss, &count) ==
        MILLE_OK);
  CHECK(fabs(loss - lossAndGradient(&n)) < 2e-4 * (loss + 1));
  CHECK(count == places - places / 5);
  mille_trainer_close(trainer);
  mille_package_close(package);
}

/* ---- Bits: threads, parts of a batch, files ---- */

static void checkBits(void) {
  mille_training_info clipped = usual, parts;
  clipped.clip = 0.5;
  parts = clipped;
  parts.accumulate = 4;
  trained(&clipped, 1, 0, 20, NULL, "whole");
  for (int i = 0; i < 3; ++i) {
    const int threads[3] = {2, 3, 7};
    trained(&clipped, threads[i], 0, 20, NULL, "other");
    same("whole", "other");
  }
  trained(&clipped, 2, 0, 10, NULL, "half");
  trained(&clipped, 3, 10, 20, "half", "other");
  same("whole", "other");
  trained(&parts, 2, 0, 20, NULL, "other");
  same("whole", "other");
}

/* ---- What is refused ---- */

static void checkRefusals(void) {
  char message[512];
  mille_package *package = openPackage(NULL);
  mille_trainer *trainer;
  EXPECT(mille_trainer_create(package, most, 2, 1, &trainer),
         MILLE_INVALID_ARGUMENT, mille_package_message(package),
         "package fake infers and cannot be trained: compile it with --train");
  CHECK(!trainer);
  mille_package_close(package);
  mille_training_info parts = usual;
  parts.accumulate = 3;
  package = openPackage(&parts);
  trainer = trainerOf(package, 1);
  drawBatch(0);
  EXPECT(mille_trainer_step(trainer, most, 2, given, NULL),
         MILLE_INVALID_ARGUMENT, mille_trainer_message(trainer),
         "batch is 8 but must be a multiple of 3, the parts that a step "
         "accumulates");
  mille_trainer_close(trainer);
  mille_package_close(package);

  package = openPackage(&usual);
  trainer = trainerOf(package, 1);
  labels[3] = 9;
  EXPECT(mille_trainer_step(trainer, most, 2, given, NULL), MILLE_INVALID_INPUT,
         mille_trainer_message(trainer),
         "labels[3] is 9 but must be -100 or in 0 to 8");
  for (int m = 0; m < places; ++m)
    labels[m] = -100;
  EXPECT(mille_trainer_step(trainer, most, 2, given, NULL), MILLE_INVALID_INPUT,
         mille_trainer_message(trainer),
         "all 48 labels are -100, so nothing is learnt");
  EXPECT(mille_trainer_set(trainer, "speed", 1), MILLE_INVALID_ARGUMENT,
         mille_trainer_message(trainer),
         "and a trainer's numbers are rate and clip");
  EXPECT(mille_trainer_set(trainer, "rate", -1), MILLE_INVALID_ARGUMENT,
         mille_trainer_message(trainer),
         "rate is -1 but must be at least 0, or NAN for the package's");
  EXPECT(mille_trainer_set_note(trainer, "data", "a \"b\""),
         MILLE_INVALID_ARGUMENT, mille_trainer_message(trainer),
         "5 characters or one that is not plain; it may have 159");
  EXPECT(mille_trainer_set_note(trainer, "colour", "red"),
         MILLE_INVALID_ARGUMENT, mille_trainer_message(trainer),
         "a trainer notes its seed and its data, not colour");
  EXPECT(mille_trainer_evaluate(trainer, most, 2, given, NULL, NULL),
         MILLE_INVALID_ARGUMENT, mille_trainer_message(trainer),
         "sizes, inputs, loss or labels is null");
  const void *without[4] = {given[0], NULL, NULL, NULL};
  EXPECT(mille_trainer_step(trainer, most, 2, without, NULL),
         MILLE_INVALID_ARGUMENT, mille_trainer_message(trainer),
         "labels are null");
  CHECK(mille_trainer_save(trainer, "before") == MILLE_OK);
  breakLoss = 1;
  drawBatch(0);
  EXPECT(mille_trainer_step(trainer, most, 2, given, NULL), MILLE_INVALID_INPUT,
         mille_trainer_message(trainer), "the loss of step 1 is");
  breakLoss = 0;
  CHECK(mille_trainer_save(trainer, "after") == MILLE_OK);
  same("before", "after");
  CHECK(mille_trainer_set(trainer, "rate", 0.25) == MILLE_OK);
  mille_step_report report;
  CHECK(mille_trainer_step(trainer, most, 2, given, &report) == MILLE_OK &&
        report.rate == 0.25);
  (void)message;
  mille_trainer_close(trainer);
  mille_package_close(package);
}

/* ---- Gradients without an update ---- */

static void checkGradients(void) {
  static numbers n;
  static float table[rows * columns], factor[factors];
  mille_package *package = openPackage(&usual);
  mille_trainer *trainer = trainerOf(package, 2);
  memset(&n, 0, sizeof n);
  for (int i = 0; i < all; ++i)
    n.w[i] = startOf(i < rows * columns ? i : i - rows * columns);
  drawBatch(0);
  const double loss = lossAndGradient(&n);
  mille_step_report report;
  CHECK(mille_trainer_save(trainer, "before") == MILLE_OK);
  CHECK(mille_trainer_gradients(trainer, most, 2, given, &report) == MILLE_OK);
  CHECK(fabs(report.loss - loss) < 1e-4 * (loss + 1) && report.step == 1);
  const mille_parameter_info *of = usual.parameters;
  CHECK(mille_trainer_gradient(trainer, of[0].name, table, rows * columns) ==
        MILLE_OK);
  CHECK(mille_trainer_gradient(trainer, of[1].name, factor, factors) ==
        MILLE_OK);
  for (int i = 0; i < all; ++i) {
    const double g = i < rows * columns ? table[i] : factor[i - rows * columns];
    CHECK(fabs(g - n.g[i]) <= 1e-4 * (fabs(n.g[i]) + 1e-2));
  }
  EXPECT(mille_trainer_gradient(trainer, of[1].name, factor, 3),
         MILLE_INVALID_ARGUMENT, mille_trainer_message(trainer),
         " has 7 numbers but room for 3 is given");
  EXPECT(mille_trainer_gradient(trainer, "nothing", factor, factors),
         MILLE_INVALID_ARGUMENT, mille_trainer_message(trainer),
         "no parameter is called nothing");
  CHECK(mille_trainer_save(trainer, "after") == MILLE_OK);
  same("before", "after");
  mille_trainer_close(trainer);
  mille_package_close(package);
}

/* ---- Rates and the order of data ---- */

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
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  mkdir(argv[1], 0777);
  CHECK(chdir(argv[1]) == 0);
  checkOptimizer(MILLE_OPTIMIZER_SGD, 0, 0, 0.2);
  checkOptimizer(MILLE_OPTIMIZER_SGD, 0.9, 0, 0.05);
  checkOptimizer(MILLE_OPTIMIZER_SGD, 0, 0.02, 0.2);
  checkOptimizer(MILLE_OPTIMIZER_ADAM, 0.9, 0, 0.05);
  checkOptimizer(MILLE_OPTIMIZER_ADAMW, 0.9, 0.5, 0.05);
  checkOptimizer(MILLE_OPTIMIZER_LAMB, 0.9, 0, 0.02);
  checkOptimizer(MILLE_OPTIMIZER_LION, 0.9, 0, 0.01);
  checkBits();
  checkRefusals();
  checkGradients();
  checkRates();
  checkOrder();
  return 0;
}
