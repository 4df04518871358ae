/* Trainers: optimizers, bits, refusals. */
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

/* Sizes and entries that no trainer can be made of. */
static void checkCreation(void) {
  mille_package *package = openPackage(&usual);
  mille_trainer *trainer;
  static const mille_size many[MILLE_MAX_SIZES + 1];
  EXPECT(mille_trainer_create(package, many, MILLE_MAX_SIZES + 1, 1, &trainer),
         MILLE_INVALID_ARGUMENT, mille_package_message(package),
         "sizes are given but a model has at most");
  mille_entry unfit[2] = {entries[0], entries[1]};
  unfit[1].output_count = 0;
  model.entries = unfit;
  EXPECT(
      mille_trainer_create(package, most, 2, 1, &trainer), MILLE_INTERNAL,
      mille_package_message(package),
      "entry eval has not the inputs labels and loss_weight, and one output");
  model.entries = entries;
  CHECK(!trainer);
  mille_package_close(package);
}

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
         ", and a trainer's numbers are rate, clip, peak_rate, end_rate, "
         "warmup, steps, momentum, beta1, beta2, epsilon, dropout_seed, step, "
         "rate:PATTERN and weight_decay:PATTERN");
  EXPECT(mille_trainer_set(trainer, "rate", -1), MILLE_INVALID_ARGUMENT,
         mille_trainer_message(trainer),
         "rate is -1 but must be at least 0, or NAN for the package's");
  EXPECT(mille_trainer_set_note(trainer, "data", "a \"b\""),
         MILLE_INVALID_ARGUMENT, mille_trainer_message(trainer),
         "the note data has 5 characters or one that is not plain; it may "
         "have 159");
  char note[161] = "";
  memset(note, 'a', 160);
  EXPECT(mille_trainer_set_note(trainer, "data", note), MILLE_INVALID_ARGUMENT,
         mille_trainer_message(trainer), "the note data has 160 characters");
  note[159] = 0;
  CHECK(mille_trainer_set_note(trainer, "data", note) == MILLE_OK);
  CHECK(strcmp(mille_trainer_note(trainer, "data"), note) == 0);
  EXPECT(mille_trainer_set_note(trainer, "colour", "red"),
         MILLE_INVALID_ARGUMENT, mille_trainer_message(trainer),
         "a trainer notes its seed, its data and its mask, not colour");
  double loss;
  int64_t count;
  EXPECT(mille_trainer_evaluate(trainer, most, 2, given, NULL, &count),
         MILLE_INVALID_ARGUMENT, mille_trainer_message(trainer),
         "sizes, inputs, loss or labels is null");
  const void *unlabelled[3] = {ids, NULL, NULL};
  EXPECT(mille_trainer_evaluate(trainer, most, 2, unlabelled, &loss, &count),
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

/* ---- Updates layer by layer ---- */

static size_t bytesOf(mille_trainer *trainer) {
  size_t bytes;
  CHECK(mille_trainer_memory(trainer, &bytes) == MILLE_OK);
  return bytes;
}

/* The bits of an update at the end, whatever the optimizer. */
static void checkLayers(uint32_t optimizer) {
  mille_training_info with = usual;
  with.optimizer = optimizer;
  const mille_training_info layered = layeredOf(&with);
  trained(&with, 1, 0, 6, NULL, "end");
  for (int threads = 1; threads < 4; ++threads) {
    trained(&layered, threads, 0, 6, NULL, "layers");
    same("end", "layers");
  }
}

static void checkLayerFailures(void) {
  float factor[factors];
  const mille_training_info layered = layeredOf(&usual);
  mille_package *package = openPackage(&layered);
  mille_trainer *trainer = trainerOf(package, 2);
  stepOf(trainer, 0);
  CHECK(mille_trainer_save(trainer, "before") == MILLE_OK);
  breakLoss = 1;
  EXPECT(mille_trainer_step(trainer, most, 2, given, NULL), MILLE_INVALID_INPUT,
         mille_trainer_message(trainer), "the weights are as before the step");
  breakLoss = 0;
  CHECK(mille_trainer_save(trainer, "after") == MILLE_OK);
  same("before", "after");
  /* A step that has begun to change weights is done; one that has not ends. */
  cancels = trainer;
  EXPECT(mille_trainer_step(trainer, most, 2, given, NULL), MILLE_CANCELLED,
         mille_trainer_message(trainer), "cancelled");
  cancels = NULL;
  CHECK(mille_trainer_save(trainer, "after") == MILLE_OK);
  same("before", "after");
  for (breakGradient = 1; breakGradient < 3; ++breakGradient) {
    EXPECT(mille_trainer_step(trainer, most, 2, given, NULL),
           MILLE_INVALID_INPUT, mille_trainer_message(trainer),
           breakGradient == 1 ? "the gradient of embed.weight is not finite"
                              : "the gradient of factor is not finite; layers "
                                "above it have changed: load a checkpoint");
    EXPECT(mille_trainer_step(trainer, most, 2, given, NULL),
           MILLE_INVALID_ARGUMENT, mille_trainer_message(trainer),
           "step 2 failed when some weights had changed: load a checkpoint");
    CHECK(mille_trainer_save(trainer, "after") == MILLE_INVALID_ARGUMENT);
    CHECK(mille_trainer_weight(trainer, "factor", factor, factors) ==
          MILLE_INVALID_ARGUMENT);
    double loss;
    int64_t count;
    CHECK(mille_trainer_evaluate(trainer, most, 2, given, &loss, &count) ==
          MILLE_INVALID_ARGUMENT);
    CHECK(mille_trainer_load(trainer, "before") == MILLE_OK);
    CHECK(mille_trainer_save(trainer, "after") == MILLE_OK);
    same("before", "after");
  }
  breakGradient = 0;
  stepOf(trainer, 1);
  mille_trainer_close(trainer);
  mille_package_close(package);
  trained(&usual, 2, 0, 2, NULL, "end");
  trained(&layered, 2, 1, 2, "before", "after");
  same("end", "after");
}

/* A cancel at the end of a part's run, which that run sees no more, ends the
 * step and the evaluation all the same. */
static void checkCancelledParts(int parts, int layers) {
  mille_training_info with = usual;
  with.accumulate = parts;
  if (layers)
    with = layeredOf(&with);
  mille_package *package = openPackage(&with);
  mille_trainer *trainer = trainerOf(package, 2);
  double loss;
  int64_t count;
  stepOf(trainer, 0);
  CHECK(mille_trainer_save(trainer, "before") == MILLE_OK);
  cancels = trainer;
  EXPECT(mille_trainer_evaluate(trainer, most, 2, given, &loss, &count),
         MILLE_CANCELLED, mille_trainer_message(trainer),
         "the run was cancelled");
  EXPECT(mille_trainer_step(trainer, most, 2, given, NULL), MILLE_CANCELLED,
         mille_trainer_message(trainer), "the run was cancelled");
  cancels = NULL;
  CHECK(mille_trainer_save(trainer, "after") == MILLE_OK);
  same("before", "after");
  CHECK(mille_trainer_evaluate(trainer, most, 2, given, &loss, &count) ==
        MILLE_OK);
  stepOf(trainer, 1);
  mille_trainer_close(trainer);
  mille_package_close(package);
}

/* Clipping asks for all gradients at once, and gets their memory. */
static void checkClipOfLayers(void) {
  const mille_training_info layered = layeredOf(&usual);
  mille_package *package = openPackage(&layered);
  mille_trainer *trainer = trainerOf(package, 2);
  const size_t before = bytesOf(trainer);
  stepOf(trainer, 0);
  CHECK(mille_trainer_set(trainer, "clip", 0.5) == MILLE_OK);
  CHECK(bytesOf(trainer) != before);
  stepOf(trainer, 1);
  CHECK(mille_trainer_set(trainer, "clip", 0) == MILLE_OK);
  CHECK(bytesOf(trainer) == before);
  stepOf(trainer, 2);
  CHECK(mille_trainer_save(trainer, "layers") == MILLE_OK);
  mille_trainer_close(trainer);
  mille_package_close(package);
  package = openPackage(&usual);
  trainer = trainerOf(package, 1);
  stepOf(trainer, 0);
  CHECK(mille_trainer_set(trainer, "clip", 0.5) == MILLE_OK);
  stepOf(trainer, 1);
  CHECK(mille_trainer_set(trainer, "clip", 0) == MILLE_OK);
  stepOf(trainer, 2);
  CHECK(mille_trainer_save(trainer, "end") == MILLE_OK);
  same("end", "layers");
  mille_trainer_close(trainer);
  mille_package_close(package);
}

/* Gradients that are asked for: those of the formula, in memory of their own;
 * the steps after are those of a trainer that was not asked. */
static void checkGradients(void) {
  static numbers n;
  float table[rows * columns], factor[factors];
  const mille_training_info layered = layeredOf(&usual);
  mille_package *package = openPackage(&layered);
  mille_trainer *trainer = trainerOf(package, 2);
  const size_t before = bytesOf(trainer);
  drawBatch(0);
  EXPECT(mille_trainer_gradient(trainer, "factor", factor, factors),
         MILLE_INVALID_ARGUMENT, mille_trainer_message(trainer),
         "there are no gradients: mille_trainer_gradients computes them, and a "
         "step uses them up");
  mille_step_report report;
  CHECK(mille_trainer_gradients(trainer, most, 2, given, &report) == MILLE_OK);
  CHECK(bytesOf(trainer) != before);
  CHECK(mille_trainer_gradient(trainer, "embed.weight", table,
                               rows * columns) == MILLE_OK);
  CHECK(mille_trainer_gradient(trainer, "factor", factor, factors) == MILLE_OK);
  EXPECT(mille_trainer_gradient(trainer, "factor", factor, 3),
         MILLE_INVALID_ARGUMENT, mille_trainer_message(trainer),
         "factor has 7 numbers but room for 3 is given");
  EXPECT(mille_trainer_gradient(trainer, "no", factor, factors),
         MILLE_INVALID_ARGUMENT, mille_trainer_message(trainer),
         "no parameter is called no");
  for (int i = 0; i < rows * columns; ++i)
    n.w[i] = startOf(i);
  for (int i = 0; i < factors; ++i)
    n.w[rows * columns + i] = startOf(i);
  const double loss = lossAndGradient(&n);
  CHECK(fabs(report.loss - loss) < 1e-4 * (loss + 1));
  for (int i = 0; i < rows * columns; ++i)
    CHECK(fabs(table[i] - n.g[i]) < 1e-5);
  for (int i = 0; i < factors; ++i)
    CHECK(fabs(factor[i] - n.g[rows * columns + i]) < 1e-5);
  stepOf(trainer, 0);
  CHECK(mille_trainer_gradient(trainer, "factor", factor, factors) ==
        MILLE_INVALID_ARGUMENT);
  mille_trainer_set_note(trainer, "seed", "17");
  CHECK(mille_trainer_save(trainer, "asked") == MILLE_OK);
  mille_trainer_close(trainer);
  mille_package_close(package);
  trained(&layered, 1, 0, 1, NULL, "layers");
  same("asked", "layers");
}

/* ---- Memory refused ---- */

static int refuseAt, pieces;
static size_t taken;
static void *allocate(void *user, size_t size, size_t alignment) {
  (void)user;
  void *memory;
  taken += size;
  if (++pieces == refuseAt || posix_memalign(&memory, alignment, size))
    return NULL;
  return memset(memory, 0x7f, size);
}
static void release(void *user, void *memory) {
  (void)user;
  free(memory);
}

/* A trainer's life with the n-th piece of memory refused, n = 1, 2, ... */
static void checkMemory(void) {
  static const char *const forms[] = {
      "a trainer needs # bytes but memory was refused",
      "a trainer of fake needs # bytes beside its session's # but memory was "
      "refused",
      "a session needs # bytes but memory was refused",
      "a session of batch 8, tokens 6 on # threads needs # bytes but memory "
      "was refused",
      "a checkpoint needs # bytes for its header but memory was refused",
      "the gradients of fake need # bytes but memory was refused"};
  unsigned seen = 0;
  mille_options options = MILLE_OPTIONS_INIT;
  options.allocate = allocate;
  options.release = release;
  mille_package_close(openPackage(&usual)); /* makes the model */
  for (int whole = 0, at = 1; !whole; ++at) {
    char message[512];
    mille_package *package;
    mille_trainer *trainer;
    refuseAt = 0;
    CHECK(mille_package_open(&model, NULL, &options, &package, message,
                             sizeof message) == MILLE_OK);
    refuseAt = at;
    pieces = 0;
    taken = 0;
    mille_status status = mille_trainer_create(package, most, 2, 1, &trainer);
    if (status == MILLE_OK) {
      CHECK(bytesOf(trainer) == taken);
      status = mille_trainer_save(trainer, "refused");
      if (status != MILLE_OK)
        fake_seen(mille_trainer_message(trainer), forms, 6, &seen);
    } else {
      CHECK(!trainer);
      fake_seen(mille_package_message(package), forms, 6, &seen);
    }
    CHECK(status == (pieces < at ? MILLE_OK : MILLE_OUT_OF_MEMORY));
    whole = status == MILLE_OK;
    mille_trainer_close(trainer);
    mille_package_close(package);
  }
  CHECK(seen == 63);
  /* The application's memory is no zeros, but the optimizer's states are. */
  mille_package *package = openPackage(&usual);
  mille_trainer *trainer = trainerOf(package, 1);
  CHECK(mille_trainer_save(trainer, "fresh") == MILLE_OK);
  same("refused", "fresh");
  mille_trainer_close(trainer);
  mille_package_close(package);
}

int main(int argc, char **argv) {
  enterFolder(argc, argv);
  checkOptimizer(MILLE_OPTIMIZER_SGD, 0, 0, 0.2);
  checkOptimizer(MILLE_OPTIMIZER_SGD, 0.9, 0, 0.05);
  checkOptimizer(MILLE_OPTIMIZER_SGD, 0, 0.02, 0.2);
  checkOptimizer(MILLE_OPTIMIZER_ADAM, 0.9, 0, 0.05);
  checkOptimizer(MILLE_OPTIMIZER_ADAMW, 0.9, 0.5, 0.05);
  checkOptimizer(MILLE_OPTIMIZER_LAMB, 0.9, 0, 0.02);
  checkOptimizer(MILLE_OPTIMIZER_LION, 0.9, 0, 0.01);
  checkBits();
  checkLayers(MILLE_OPTIMIZER_SGD);
  checkLayers(MILLE_OPTIMIZER_ADAMW);
  checkLayers(MILLE_OPTIMIZER_LAMB);
  checkLayers(MILLE_OPTIMIZER_LION);
  checkLayerFailures();
  checkCancelledParts(1, 0);
  checkCancelledParts(4, 0);
  checkCancelledParts(1, 1);
  checkClipOfLayers();
  checkGradients();
  checkCreation();
  checkRefusals();
  checkMemory();
  return 0;
}
