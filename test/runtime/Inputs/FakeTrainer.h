/* Trainers on a model written by hand: a token's prediction is a row's number
 * times its factor, and its loss the half square of what is missing. */
#ifndef MILLE_TEST_FAKE_TRAINER_H
#define MILLE_TEST_FAKE_TRAINER_H
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
static int
    breakGradient; /* the gradient of that parameter + 1 is not; 0: none */
static mille_trainer *cancels; /* which the run cancels at its end */

/* Goes to the folder that the command line names. */
static void enterFolder(int argc, char **argv) {
  CHECK(argc == 2);
  mkdir(argv[1], 0777);
  CHECK(chdir(argv[1]) == 0);
}

static int columnOf(int id, int token) {
  return (id * 31 + token * 7) % columns;
}

static int32_t compute(mille_run *run, int learn) {
  const int32_t *ids = run->inputs[0], *labels = run->inputs[1];
  const float weight = *(const float *)run->inputs[2];
  const float *table = (const float *)(run->weights + run->table[0]),
              *factor = (const float *)(run->weights + run->table[1]);
  float *toTable = (float *)(run->gradients + run->gradient_table[0]),
        *toFactor = (float *)(run->gradients + run->gradient_table[1]);
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
  if (learn && breakGradient)
    *(breakGradient == 1 ? toTable : toFactor) = INFINITY;
  return 0;
}
static int32_t trainStep(mille_run *run);
static int32_t evaluate(mille_run *run) {
  int32_t status = compute(run, 0);
  if (cancels)
    mille_trainer_cancel(cancels);
  return status;
}

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
enum { factorName = sizeof "embed.weight" }; /* where it begins */
/* Where a model updates as it goes, the table is whole at the only call. */
static const mille_parameter_info asItGoes[2] = {
    {0, 0, rows * columns, 2, 0, {rows, columns}, 1},
    {factorName, 1, factors, 1, 1, {factors}, 0}};
static const mille_parameter_info parameters[2] = {
    {0, 0, rows * columns, 2, 0, {rows, columns}},
    {factorName, 1, factors, 1, 1, {factors}}};
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
                                          .groups = groups,
                                          .parameter_count = 2,
                                          .parameters = parameters,
                                          .names = "embed.weight\0factor",
                                          .hash = 0x1234};
/* The same training, with an update in the run. */
static inline mille_training_info layeredOf(const mille_training_info *of) {
  mille_training_info layered = *of;
  layered.updates = 1;
  layered.parameters = asItGoes;
  return layered;
}

static const uint64_t placeBytes[2] = {tableBytes, factors * 4};
static char weights[dataAt + dataBytes] __attribute__((aligned(64)));
static mille_training_info training;
static mille_model model;
static int32_t ids[places], labels[places];
static const void *given[3] = {ids, labels, NULL};
static const mille_size most[2] = {{"batch", batch}, {"tokens", tokens}};

static int32_t trainStep(mille_run *run) {
  int32_t status = compute(run, 1);
  if (cancels)
    mille_trainer_cancel(cancels);
  return status == 0 && training.updates ? mille_update(run) : status;
}

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

/* ---- Files ---- */

static char *contentOf(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  CHECK(file && fseek(file, 0, SEEK_END) == 0);
  *bytes = (size_t)ftell(file);
  char *content = malloc(*bytes + 1);
  rewind(file);
  CHECK(fread(content, 1, *bytes, file) == *bytes && fclose(file) == 0);
  return content;
}

__attribute__((unused)) static void trained(const mille_training_info *with,
                                            int threads, int64_t from,
                                            int64_t to, const char *resume,
                                            const char *path) {
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

__attribute__((unused)) static void same(const char *left, const char *right) {
  size_t sizes[2];
  char *texts[2] = {contentOf(left, &sizes[0]), contentOf(right, &sizes[1])};
  CHECK(sizes[0] == sizes[1] && memcmp(texts[0], texts[1], sizes[0]) == 0);
  free(texts[0]);
  free(texts[1]);
}
#endif
