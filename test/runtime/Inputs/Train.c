/* Trainers on a model written by hand: a token's prediction is a row's number
 * times its factor, and its loss the half square of what is missing. */
#define _GNU_SOURCE
#include "FakeModel.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  rows = 50,
  columns = 400,
  factors = 7,
  tableBytes = rows * columns * 4,
  factorAt = tableBytes,
  dataBytes = tableBytes + 64,
  dataAt = 192,
  batch = 8,
  tokens = 6,
  places = batch * tokens
};
static int breakLoss; /* the next run's first loss is not a number */

static int columnOf(int id, int token) {
  return (id * 31 + token * 7) % columns;
}

static int32_t compute(mille_run *run, int learn) {
  const int32_t *ids = run->inputs[0], *labels = run->inputs[1];
  const float weight = *(const float *)run->inputs[2];
  const float *table = (const float *)(run->weights + run->table[0]),
              *factor = (const float *)(run->weights + run->table[1]);
  float *toTable = (float *)(run->gradients + run->table[0]),
        *toFactor = (float *)(run->gradients + run->table[1]);
  for (int64_t m = 0; m < run->batch * run->tokens; ++m) {
    const int at = ids[m] * columns + columnOf(ids[m], m % run->tokens),
              by = ids[m] % factors;
    const float missing = table[at] * factor[by] - labels[m];
    const int counts = labels[m] != -100;
    run->outputs[0][m] = counts ? weight * missing * missing / 2 : 0;
    if (breakLoss && m == 0)
      run->outputs[0][m] = NAN;
    if (!learn || !counts)
      continue;
    toTable[at] += weight * missing * factor[by];
    toFactor[by] += weight * missing * table[at];
  }
  return 0;
}
static int32_t trainStep(mille_run *run) { return compute(run, 1); }
static int32_t evaluate(mille_run *run) { return compute(run, 0); }

static const mille_isa isa = {"any", 0};
static const mille_tensor_info inputs[3] = {
    {"input_ids", MILLE_I32, 2, {-1, -2}, MILLE_REQUIRED, 0, rows},
    {"labels", MILLE_I32, 2, {-1, -2}, MILLE_REQUIRED, 0, 0},
    {"loss_weight", MILLE_F32, 1, {1}, MILLE_REQUIRED, 0, 0}};
static const mille_tensor_info output = {"losses", MILLE_F32, 2, {-1, -2},
                                         0,        0,         0};
static const mille_size_info sizeInfos[2] = {{"batch", 0}, {"tokens", 100}};
static const mille_entry entries[2] = {{.name = "train_step",
                                        .forward = trainStep,
                                        .input_count = 3,
                                        .output_count = 1,
                                        .inputs = inputs,
                                        .outputs = &output,
                                        .arena_bytes_per_row = 64},
                                       {.name = "eval",
                                        .forward = evaluate,
                                        .input_count = 3,
                                        .output_count = 1,
                                        .inputs = inputs,
                                        .outputs = &output,
                                        .arena_bytes_per_row = 64}};
static const mille_parameter_info parameters[2] = {
    {"embed.weight", 0, rows * columns, 2, 0, {rows, columns}},
    {"factor", 1, factors, 1, 1, {factors}}};
static const mille_group_info groups[2] = {{1, 0.1}, {0.5, 0}};
static const mille_training_info usual = {.optimizer = MILLE_OPTIMIZER_ADAMW,
                                          .first = 0.9,
                                          .second = 0.99,
                                          .epsilon = 1e-6,
                                          .peak = 0.05,
                                          .accumulate = 1,
                                          .labels = 9,
                                          .step_entry = 0,
                                          .eval_entry = 1,
                                          .group_count = 2,
                                          .groups = groups,
                                          .parameter_count = 2,
                                          .parameters = parameters,
                                          .hash = 0x1234};
static const uint64_t placeBytes[2] = {tableBytes, factors * 4};
static char weights[dataAt + dataBytes] __attribute__((aligned(64)));
static mille_training_info training;
static mille_model model;
static int32_t ids[places], labels[places];
static const void *given[3] = {ids, labels, NULL};
static const mille_size most[2] = {{"batch", batch}, {"tokens", tokens}};

static double startOf(int i) { return 0.5 + (i % 13) / 16.0; }

static mille_package *openPackage(const mille_training_info *with) {
  uint64_t table[2] = {0, factorAt};
  mille_weights_header header = {
      {0},   MILLE_WEIGHTS_VERSION, 0, sizeof weights,
      0,     sizeof header,         2, dataAt,
      "fake"};
  memset(weights, 0, sizeof weights);
  memcpy(header.magic, MILLE_WEIGHTS_MAGIC, 8);
  memcpy(weights, &header, sizeof header);
  memcpy(weights + sizeof header, table, sizeof table);
  for (int i = 0; i < rows * columns; ++i)
    ((float *)(weights + dataAt))[i] = (float)startOf(i);
  for (int i = 0; i < factors; ++i)
    ((float *)(weights + dataAt + factorAt))[i] = (float)startOf(i);
  training = with ? *with : usual;
  model = (mille_model){.abi_version = MILLE_ABI_VERSION,
                        .isa_count = 1,
                        .entry_count = 2,
                        .size_count = 2,
                        .name = "fake",
                        .isas = &isa,
                        .entries = entries,
                        .sizes = sizeInfos,
                        .token_size = 1,
                        .weights_bytes = sizeof weights,
                        .weights = weights,
                        .place_count = 2,
                        .place_bytes = placeBytes,
                        .training = with ? &training : NULL};
  model.table_hash = fake_table_hash(weights);
  mille_package *package;
  char message[512];
  CHECK(mille_package_open(&model, NULL, NULL, &package, message,
                           sizeof message) == MILLE_OK);
  return package;
}

static mille_trainer *trainerOf(mille_package *package, int threads) {
  mille_trainer *trainer;
  CHECK(mille_trainer_create(package, most, 2, threads, &trainer) == MILLE_OK);
  return trainer;
}

static void drawBatch(int64_t step) {
  for (int m = 0; m < places; ++m) {
    ids[m] = (int)mille_data_order(5, step, m, rows);
    labels[m] = m % 5 == 4 ? -100 : (ids[m] + (int)step) % 9;
  }
}

static mille_step_report stepOf(mille_trainer *trainer, int64_t step) {
  mille_step_report report;
  drawBatch(step);
  EXPECT(mille_trainer_step(trainer, most, 2, given, &report), MILLE_OK,
         mille_trainer_message(trainer), "");
  CHECK(report.step == step + 1);
  return report;
}

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

static char *contentOf(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  CHECK(file && fseek(file, 0, SEEK_END) == 0);
  *bytes = (size_t)ftell(file);
  char *content = malloc(*bytes + 1);
  rewind(file);
  CHECK(fread(content, 1, *bytes, file) == *bytes && fclose(file) == 0);
  return content;
}

static void trained(const mille_training_info *with, int threads, int64_t from,
                    int64_t to, const char *resume, const char *path) {
  mille_package *package = openPackage(with);
  mille_trainer *trainer = trainerOf(package, threads);
  if (resume)
    EXPECT(mille_trainer_load(trainer, resume), MILLE_OK,
           mille_trainer_message(trainer), "");
  for (int64_t step = from; step < to; ++step)
    stepOf(trainer, step);
  mille_trainer_set_note(trainer, "seed", "17");
  EXPECT(mille_trainer_save(trainer, path), MILLE_OK,
         mille_trainer_message(trainer), "");
  mille_trainer_close(trainer);
  mille_package_close(package);
}

static void same(const char *left, const char *right) {
  size_t sizes[2];
  char *texts[2] = {contentOf(left, &sizes[0]), contentOf(right, &sizes[1])};
  CHECK(sizes[0] == sizes[1] && memcmp(texts[0], texts[1], sizes[0]) == 0);
  free(texts[0]);
  free(texts[1]);
}

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
         "package fake infers and cannot be trained");
  CHECK(!trainer);
  mille_package_close(package);
  mille_training_info parts = usual;
  parts.accumulate = 3;
  package = openPackage(&parts);
  trainer = trainerOf(package, 1);
  drawBatch(0);
  EXPECT(mille_trainer_step(trainer, most, 2, given, NULL),
         MILLE_INVALID_ARGUMENT, mille_trainer_message(trainer),
         "batch is 8 but must be a multiple of 3");
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
         mille_trainer_message(trainer), "all 48 labels are -100");
  EXPECT(mille_trainer_set(trainer, "speed", 1), MILLE_INVALID_ARGUMENT,
         mille_trainer_message(trainer), "a trainer's numbers are rate and");
  EXPECT(mille_trainer_set(trainer, "rate", -1), MILLE_INVALID_ARGUMENT,
         mille_trainer_message(trainer), "rate is -1 but must be at least 0");
  EXPECT(mille_trainer_set_note(trainer, "data", "a \"b\""),
         MILLE_INVALID_ARGUMENT, mille_trainer_message(trainer),
         "one that is not plain");
  EXPECT(mille_trainer_set_note(trainer, "colour", "red"),
         MILLE_INVALID_ARGUMENT, mille_trainer_message(trainer),
         "notes its seed and its data, not colour");
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

/* A file with one byte changed is refused, and leaves the trainer as it was. */
static void checkDamage(void) {
  size_t bytes;
  trained(&usual, 1, 0, 5, NULL, "good");
  char *good = contentOf("good", &bytes);
  mille_package *package = openPackage(&usual);
  mille_trainer *trainer = trainerOf(package, 1);
  stepOf(trainer, 0);
  CHECK(mille_trainer_save(trainer, "before") == MILLE_OK);
  const uint64_t header = *(uint64_t *)good;
  for (size_t at = 0; at < bytes;
       at += at < header + 8 ? 1 : (bytes - header) / 9) {
    good[at] ^= 4;
    fake_write("bad", good, bytes);
    CHECK(mille_trainer_load(trainer, "bad") == MILLE_BAD_WEIGHTS);
    good[at] ^= 4;
  }
  const size_t cuts[] = {0, 7, 8, header, header + 8, bytes - 1};
  for (size_t i = 0; i < sizeof cuts / sizeof *cuts; ++i) {
    fake_write("bad", good, cuts[i]);
    CHECK(mille_trainer_load(trainer, "bad") == MILLE_BAD_WEIGHTS);
  }
  CHECK(mille_trainer_save(trainer, "after") == MILLE_OK);
  same("before", "after");
  EXPECT(mille_trainer_load(trainer, "nowhere"), MILLE_FILE_ERROR,
         mille_trainer_message(trainer), "cannot read nowhere");
  CHECK(mille_trainer_load(trainer, "good") == MILLE_OK);
  int64_t steps;
  CHECK(mille_trainer_steps(trainer, &steps) == MILLE_OK && steps == 5);
  CHECK(strcmp(mille_trainer_note(trainer, "seed"), "17") == 0);

  char *format = strstr(good + 8, "mille-checkpoint 1");
  format[strlen("mille-checkpoint ")] = '2';
  fake_write("bad", good, bytes);
  EXPECT(mille_trainer_load(trainer, "bad"), MILLE_BAD_WEIGHTS,
         mille_trainer_message(trainer),
         "is a checkpoint of format 2 but this runtime reads format 1");
  free(good);
  mille_trainer_close(trainer);
  mille_package_close(package);
}

static void checkOther(void) {
  mille_training_info lamb = usual, spec = usual;
  lamb.optimizer = MILLE_OPTIMIZER_LAMB;
  spec.hash = 0x99;
  mille_package *package = openPackage(&lamb);
  mille_trainer *trainer = trainerOf(package, 1);
  EXPECT(mille_trainer_load(trainer, "good"), MILLE_BAD_WEIGHTS,
         mille_trainer_message(trainer),
         "optimizer is adamw but this trainer's is lamb");
  mille_trainer_close(trainer);
  mille_package_close(package);
  package = openPackage(&spec);
  trainer = trainerOf(package, 1);
  EXPECT(mille_trainer_load(trainer, "good"), MILLE_BAD_WEIGHTS,
         mille_trainer_message(trainer),
         "spec is 0000000000001234 but this trainer's is 0000000000000099");
  mille_trainer_close(trainer);
  mille_package_close(package);
}

/* ---- A save that does not come to its end ---- */

static void checkKills(void) {
  mille_package *package = openPackage(&usual);
  mille_trainer *trainer = trainerOf(package, 1);
  stepOf(trainer, 0);
  CHECK(mille_trainer_save(trainer, "killed") == MILLE_OK);
  for (int turn = 0; turn < 12; ++turn) {
    pid_t child = fork();
    if (child == 0)
      for (;;)
        mille_trainer_save(trainer, "killed");
    usleep(2000 + 1700 * turn);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    EXPECT(mille_trainer_load(trainer, "killed"), MILLE_OK,
           mille_trainer_message(trainer), "");
  }
  CHECK(mille_trainer_save(trainer, "before") == MILLE_OK);
  stepOf(trainer, 1);
  signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small = {1000, RLIM_INFINITY},
                      any = {RLIM_INFINITY, RLIM_INFINITY};
  CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
  EXPECT(mille_trainer_save(trainer, "killed"), MILLE_FILE_ERROR,
         mille_trainer_message(trainer),
         "cannot write killed: File too large; what was there is as before");
  CHECK(setrlimit(RLIMIT_FSIZE, &any) == 0);
  same("killed", "before");
  CHECK(access("killed.partial", F_OK) != 0);
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
  checkDamage();
  checkOther();
  checkKills();
  checkRates();
  checkOrder();
  return 0;
}
