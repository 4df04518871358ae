/* Trainers: the numbers that may be set between steps, and what is reported. */
#include "FakeTrainer.h"

#include <time.h>

typedef struct {
  const char *name;
  double value;
} setting;

/* Five steps of `with`, after these numbers were set, or set and taken back. */
static void stepsWith(const mille_training_info *with, const setting *set,
                      int count, int back, const char *path) {
  mille_package *package = openPackage(with);
  mille_trainer *trainer = trainerOf(package, 2);
  for (int i = 0; i < count; ++i)
    for (int again = 0; again <= back; ++again)
      EXPECT(
          mille_trainer_set(trainer, set[i].name, again ? NAN : set[i].value),
          MILLE_OK, mille_trainer_message(trainer), "");
  for (int64_t step = 0; step < 5; ++step)
    stepOf(trainer, step);
  CHECK(mille_trainer_save(trainer, path) == MILLE_OK);
  mille_trainer_close(trainer);
  mille_package_close(package);
}

static int differ(const char *left, const char *right) {
  size_t sizes[2];
  char *texts[2] = {contentOf(left, &sizes[0]), contentOf(right, &sizes[1])};
  const int unlike =
      sizes[0] != sizes[1] || memcmp(texts[0], texts[1], sizes[0]) != 0;
  free(texts[0]);
  free(texts[1]);
  return unlike;
}

/* The number of `usual` that is set gives the steps of the package that has it,
 * and of NAN those of the package itself. */
static void checkNumber(const mille_training_info *from,
                        const mille_training_info *to, const setting *set,
                        int count) {
  stepsWith(from, NULL, 0, 0, "from");
  stepsWith(to, NULL, 0, 0, "to");
  CHECK(differ("from", "to"));
  stepsWith(from, set, count, 0, "set");
  same("to", "set");
  stepsWith(from, set, count, 1, "back");
  same("from", "back");
}

static void checkNumbers(void) {
  static const mille_group_info otherRates[2] = {{1, 0.1}, {0.25, 0}},
                                otherDecays[2] = {{1, 0.1}, {0.5, 0.3}},
                                allDecays[2] = {{1, 0.2}, {0.5, 0.2}};
  mille_training_info from = usual, to = usual;
  to.first = 0.75;
  checkNumber(&from, &to, &(setting){"beta1", 0.75}, 1);
  to = usual;
  to.second = 0.75;
  checkNumber(&from, &to, &(setting){"beta2", 0.75}, 1);
  to = usual;
  to.epsilon = 0.25;
  checkNumber(&from, &to, &(setting){"epsilon", 0.25}, 1);
  to = usual;
  to.clip = 0.01;
  checkNumber(&from, &to, &(setting){"clip", 0.01}, 1);
  to = usual;
  to.peak = 0.125;
  checkNumber(&from, &to, &(setting){"peak_rate", 0.125}, 1);
  checkNumber(&from, &to, &(setting){"rate", 0.125}, 1);
  /* Patterns: the last that is set counts. */
  to = usual;
  to.groups = otherRates;
  checkNumber(&from, &to, &(setting){"rate:fa*", 0.25}, 1);
  to.groups = otherDecays;
  checkNumber(&from, &to, &(setting){"weight_decay:{no,*tor}", 0.3}, 1);
  checkNumber(&from, &to, &(setting){"weight_decay:f{act,ict*}or", 0.3}, 1);
  const setting both[2] = {{"weight_decay:*", 0.3},
                           {"weight_decay:embed.weight", 0.1}};
  checkNumber(&from, &to, both, 2);
  to.groups = allDecays;
  checkNumber(&from, &to, &(setting){"weight_decay:*", 0.2}, 1);
  /* The schedule. */
  from.schedule = MILLE_RATE_LINEAR;
  from.steps = 4;
  to = from;
  to.warmup = 2;
  to.steps = 8;
  to.end = 0.01;
  const setting schedule[3] = {{"warmup", 2}, {"steps", 8}, {"end_rate", 0.01}};
  stepsWith(&to, NULL, 0, 0, "to");
  stepsWith(&from, schedule, 3, 0, "set");
  same("to", "set");
  for (int i = 0; i < 2; ++i) {
    to = from;
    *(i ? &to.steps : &to.warmup) = 3;
    checkNumber(&from, &to, &(setting){i ? "steps" : "warmup", 3}, 1);
  }
  to = from;
  to.end = 0.01;
  checkNumber(&from, &to, &(setting){"end_rate", 0.01}, 1);
  /* Momentum, where there is memory for it. */
  from = usual;
  from.optimizer = MILLE_OPTIMIZER_SGD;
  to = from;
  to.first = 0.5;
  checkNumber(&from, &to, &(setting){"momentum", 0.5}, 1);
}

/* The first number of the factor's in a checkpoint: the parameters come first,
 * the table before. */
static double factorIn(const char *path) {
  size_t bytes;
  char *content = contentOf(path, &bytes);
  uint64_t header;
  float found;
  memcpy(&header, content, sizeof header);
  memcpy(&found, content + 8 + header + tableBytes, sizeof found);
  free(content);
  return found;
}

/* The corrections of moments, and the schedule, follow the number. */
static void checkStep(void) {
  mille_training_info with = usual;
  with.schedule = MILLE_RATE_LINEAR;
  with.steps = 16;
  mille_package *package = openPackage(&with);
  mille_trainer *trainer = trainerOf(package, 1);
  float factor[factors];
  int64_t steps;
  CHECK(mille_trainer_set(trainer, "step", 8) == MILLE_OK);
  CHECK(mille_trainer_steps(trainer, &steps) == MILLE_OK && steps == 8);
  drawBatch(8);
  CHECK(mille_trainer_gradients(trainer, most, 2, given, NULL) == MILLE_OK);
  CHECK(mille_trainer_gradient(trainer, "factor", factor, factors) == MILLE_OK);
  const double g = *factor, first = 1 - pow(0.9, 9), second = 1 - pow(0.99, 9);
  CHECK(mille_trainer_save(trainer, "eighth") == MILLE_OK);
  const double before = factorIn("eighth");
  CHECK(before == startOf(0) && g != 0);
  mille_step_report report = stepOf(trainer, 8);
  CHECK(report.rate == 0.025);
  CHECK(mille_trainer_save(trainer, "ninth") == MILLE_OK);
  const double change = 0.1 * g / first / (sqrt(0.01 * g * g / second) + 1e-6);
  CHECK(fabs(factorIn("ninth") - (before - 0.0125 * change)) < 1e-6);
  mille_trainer_close(trainer);
  mille_package_close(package);
}

#define REFUSED(name, value, words)                                            \
  EXPECT(mille_trainer_set(trainer, name, value), MILLE_INVALID_ARGUMENT,      \
         mille_trainer_message(trainer), words)

static void checkRefusals(void) {
  mille_package *package = openPackage(&usual);
  mille_trainer *trainer = trainerOf(package, 1);
  REFUSED("beta1", 1,
          "beta1 is 1 but must be at least 0 and below 1, or NAN for the "
          "package's");
  REFUSED("epsilon", 0,
          "epsilon is 0 but must be above 0, or NAN for the package's");
  REFUSED("warmup", 1.5,
          "warmup is 1.5 but must be a whole number from 0, or NAN for the "
          "package's");
  REFUSED("peak_rate", INFINITY, "peak_rate is inf but must be at least 0");
  REFUSED("rate:*", -1,
          "rate:* is -1 but must be at least 0, or NAN for the package's");
  REFUSED("step", -1, "step is -1 but must be a whole number from 0");
  REFUSED("step", NAN, "step is nan but must be a whole number from 0");
  REFUSED("weight_decay:embed", 0.1,
          "no parameter that changes has a name like embed");
  REFUSED("rate:{embed.weight", 0.1,
          "no parameter that changes has a name like {embed.weight");
  REFUSED("momentum", 0.5,
          "package fake learns by adamw, which has no "
          "momentum");
  REFUSED("dropout_seed", 4294967296.0,
          "dropout_seed is 4294967296 but must be a whole number from 0 to "
          "4294967295, or NAN for the package's");
  REFUSED("dropout_seed", 5,
          "package fake has no dropout, which dropout_seed is of");
  for (int64_t step = 0; step < 5; ++step)
    stepOf(trainer, step);
  CHECK(mille_trainer_save(trainer, "refused") == MILLE_OK);
  mille_trainer_close(trainer);
  mille_package_close(package);
  stepsWith(&usual, NULL, 0, 0, "usual");
  same("usual", "refused");

  mille_training_info with = usual;
  with.optimizer = MILLE_OPTIMIZER_SGD;
  with.first = 0;
  package = openPackage(&with);
  trainer = trainerOf(package, 1);
  REFUSED("momentum", 0.5,
          "momentum is 0.5 but package fake has none, and no memory for it");
  REFUSED("epsilon", 0.5, "package fake learns by sgd, which has no epsilon");
  mille_trainer_close(trainer);
  mille_package_close(package);

  /* What the package keeps as it is stays so. */
  static const mille_group_info kept[2] = {{1, 0.1}, {0, 0}};
  with = usual;
  with.groups = kept;
  package = openPackage(&with);
  trainer = trainerOf(package, 1);
  REFUSED("rate:factor", 1, "no parameter that changes has a name like factor");
  CHECK(mille_trainer_set(trainer, "rate:*", 1) == MILLE_OK);
  CHECK(mille_trainer_set(trainer, "weight_decay:*", 0.5) == MILLE_OK);
  stepOf(trainer, 0);
  CHECK(mille_trainer_save(trainer, "kept") == MILLE_OK);
  CHECK(factorIn("kept") == startOf(0));
  mille_trainer_close(trainer);
  mille_package_close(package);
}

/* ---- Weights between steps ---- */

/* Those of a checkpoint that is saved then, and no others. */
static void checkWeights(void) {
  static float table[rows * columns], factor[factors + 1];
  mille_package *package = openPackage(&usual);
  mille_trainer *trainer = trainerOf(package, 1);
  CHECK(mille_trainer_weight(trainer, "embed.weight", table, rows * columns) ==
        MILLE_OK);
  for (int i = 0; i < rows * columns; ++i)
    CHECK(table[i] == startOf(i));
  stepOf(trainer, 0);
  factor[factors] = 3;
  CHECK(mille_trainer_weight(trainer, "factor", factor, factors) == MILLE_OK);
  CHECK(mille_trainer_save(trainer, "first") == MILLE_OK);
  CHECK(*factor == factorIn("first") && *factor != startOf(0));
  CHECK(factor[factors] == 3);
  EXPECT(mille_trainer_weight(trainer, "factor", factor, factors + 1),
         MILLE_INVALID_ARGUMENT, mille_trainer_message(trainer),
         "factor has 7 numbers but room for 8 is given");
  EXPECT(mille_trainer_weight(trainer, "no", factor, factors),
         MILLE_INVALID_ARGUMENT, mille_trainer_message(trainer),
         "no parameter is called no");
  EXPECT(mille_trainer_weight(trainer, NULL, factor, factors),
         MILLE_INVALID_ARGUMENT, mille_trainer_message(trainer),
         "name is null");
  EXPECT(mille_trainer_weight(trainer, "factor", NULL, factors),
         MILLE_INVALID_ARGUMENT, mille_trainer_message(trainer),
         "numbers is null");
  CHECK(mille_trainer_weight(NULL, "factor", factor, factors) ==
        MILLE_INVALID_ARGUMENT);
  mille_trainer_close(trainer);
  mille_package_close(package);
}

/* ---- Reports ---- */

static mille_trained_parameter parameterOf(mille_trainer *trainer,
                                           size_t index) {
  mille_trained_parameter parameter;
  CHECK(mille_trainer_parameter(trainer, index, &parameter) == MILLE_OK);
  return parameter;
}

static double lengthOf(const float *numbers, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i)
    sum += (double)numbers[i] * numbers[i];
  return sqrt(sum);
}

static void checkParameters(mille_trainer *trainer) {
  static float table[rows * columns], factor[factors];
  mille_step_report report;
  size_t count;
  CHECK(mille_trainer_parameter_count(trainer, &count) == MILLE_OK &&
        count == 2);
  CHECK(mille_trainer_gradients(trainer, most, 2, given, &report) == MILLE_OK);
  CHECK(mille_trainer_gradient(trainer, "embed.weight", table,
                               rows * columns) == MILLE_OK);
  CHECK(mille_trainer_gradient(trainer, "factor", factor, factors) == MILLE_OK);
  mille_trained_parameter first = parameterOf(trainer, 0),
                          second = parameterOf(trainer, 1);
  CHECK(strcmp(first.name, "embed.weight") == 0 && first.rank == 2 &&
        first.shape[0] == rows && first.shape[1] == columns &&
        first.elements == rows * columns);
  CHECK(strcmp(second.name, "factor") == 0 && second.rank == 1 &&
        second.shape[0] == factors && second.elements == factors);
  CHECK(first.rate == 1 && first.weight_decay == 0.1 && first.trust == 1);
  CHECK(second.rate == 0.5 && second.weight_decay == 0);
  CHECK(fabs(first.gradient_norm - lengthOf(table, rows * columns)) < 1e-9);
  CHECK(fabs(second.gradient_norm - lengthOf(factor, factors)) < 1e-9);
  const double norm = report.gradient_norm;
  CHECK(fabs(hypot(first.gradient_norm, second.gradient_norm) - norm) < 1e-9);
  CHECK(mille_trainer_set(trainer, "rate:factor", 0.25) == MILLE_OK);
  CHECK(mille_trainer_set(trainer, "weight_decay:factor", 0.125) == MILLE_OK);
  second = parameterOf(trainer, 1);
  CHECK(second.rate == 0.25 && second.weight_decay == 0.125);
  CHECK(mille_trainer_parameter(trainer, 2, &first) == MILLE_INVALID_ARGUMENT);
}

static mille_training_report reportOf(mille_trainer *trainer) {
  mille_training_report report;
  CHECK(mille_trainer_report(trainer, &report) == MILLE_OK);
  return report;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void checkReport(const mille_training_info *with) {
  mille_package *package = openPackage(with);
  mille_trainer *trainer = trainerOf(package, 2);
  mille_training_report report = reportOf(trainer);
  CHECK(report.last.step == 0 && report.steps == 0 && report.seconds == 0);
  CHECK(parameterOf(trainer, 0).gradient_norm == 0);
  const double begin = now();
  mille_step_report last;
  for (int64_t step = 0; step < 3; ++step)
    last = stepOf(trainer, step);
  const double took = now() - begin;
  breakLoss = 1;
  CHECK(mille_trainer_step(trainer, most, 2, given, NULL) ==
        MILLE_INVALID_INPUT);
  breakLoss = 0;
  report = reportOf(trainer);
  CHECK(report.last.step == 3 && report.last.loss == last.loss &&
        report.last.labels == last.labels && report.last.rate == last.rate &&
        report.last.gradient_norm == last.gradient_norm);
  CHECK(report.steps == 3 && report.sequences == 3 * batch &&
        report.labels == 3 * last.labels);
  CHECK(report.forward_seconds > 0 && report.update_seconds > 0 &&
        report.backward_seconds >= 0);
  const double parts =
      report.forward_seconds + report.backward_seconds + report.update_seconds;
  CHECK(fabs(report.seconds - parts) < 1e-9 && report.seconds < took);
  size_t bytes;
  CHECK(mille_trainer_memory(trainer, &bytes) == MILLE_OK &&
        report.bytes == bytes);
  CHECK(report.weight_bytes == dataBytes &&
        report.state_bytes == 2 * dataBytes && report.session_bytes > 0);
  CHECK(report.gradient_bytes >= (with->updates ? tableBytes : dataBytes));
  const size_t held = report.weight_bytes + report.state_bytes +
                      report.gradient_bytes + report.session_bytes;
  CHECK(held < bytes && bytes - held < 1 << 16);
  CHECK(mille_trainer_save(trainer, "reported") == MILLE_OK);
  CHECK(mille_trainer_load(trainer, "reported") == MILLE_OK);
  report = reportOf(trainer);
  CHECK(report.last.step == 0 && report.steps == 3);
  checkParameters(trainer);
  mille_trainer_close(trainer);
  mille_package_close(package);
}

/* LAMB's factor: the length of the weights by that of their update. */
static void checkTrust(void) {
  mille_training_info with = usual;
  with.optimizer = MILLE_OPTIMIZER_LAMB;
  mille_package *package = openPackage(&with);
  mille_trainer *trainer = trainerOf(package, 1);
  CHECK(parameterOf(trainer, 1).trust == 1);
  static float factor[factors];
  drawBatch(0);
  CHECK(mille_trainer_gradients(trainer, most, 2, given, NULL) == MILLE_OK);
  CHECK(mille_trainer_gradient(trainer, "factor", factor, factors) == MILLE_OK);
  stepOf(trainer, 0);
  double weight = 0, update = 0;
  for (int i = 0; i < factors; ++i) {
    const double g = factor[i], u = g / (fabs(g) + 1e-6);
    weight += startOf(i) * startOf(i);
    update += u * u;
  }
  CHECK(fabs(parameterOf(trainer, 1).trust - sqrt(weight / update)) < 1e-5);
  mille_trainer_close(trainer);
  mille_package_close(package);
}

int main(int argc, char **argv) {
  enterFolder(argc, argv);
  const mille_training_info layered = layeredOf(&usual);
  checkNumbers();
  checkStep();
  checkRefusals();
  checkWeights();
  checkReport(&usual);
  checkReport(&layered);
  checkTrust();
  return 0;
}
