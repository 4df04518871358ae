// A training step: runs of the batch's parts add to the gradients, then one
// update changes the weights. Every sum has one order, whatever the threads do.
// Must not decide how a model is trained: the package says it.
#include "runtime/train/Trainer.h"
#include "runtime/Clock.h"
#include "runtime/train/Draw.h"
#include "runtime/train/Rate.h"

#include <math.h>
#include <sched.h>
#include <string.h>

using mille::Bytes;
using mille::Lengths;

using ll = long long;
using ull = unsigned long long;

const char *const mille::noteNames[mille::noteCount] = {"seed", "data", "mask"};

namespace {

// Labels of tokens that do not count.
constexpr int32_t ignored = -100;

// The number of an entry's input of that name, or its input_count.
uint32_t inputNamed(const mille_entry &entry, const char *name) {
  uint32_t number = 0;
  while (number < entry.input_count &&
         strcmp(entry.inputs[number].name, name) != 0)
    ++number;
  return number;
}

int64_t batchOf(const mille_model &model, const mille_size *sizes,
                size_t count) {
  const char *batch = model.sizes[mille::batchSize].name;
  while (count && strcmp(sizes[count - 1].name, batch) != 0)
    --count;
  return count ? sizes[count - 1].value : 0;
}

} // namespace

// Called twice: without a slab it sums sizes, with a slab it places pointers.
void mille_trainer::layOut(Bytes &sum) {
  auto at = [&](uint64_t offset) { return slab ? slab + offset : nullptr; };
  const mille_entry &entry = package->model->entries[training->step_entry];
  weights = at(sum.place(1, extent));
  for (int state = 0; state < stateCount(); ++state)
    states[state] = at(sum.place(1, extent));
  uint64_t rows = 0;
  sum.fits = sum.fits && mille::countElements(entry.outputs[0], most, rows);
  losses = (float *)at(sum.place(rows, sizeof(float)));
  lossWeight = (float *)at(sum.place(1, sizeof(float)));
  stepNumber = (int32_t *)at(sum.place(2, sizeof(int32_t)));
  inputs = (const void **)at(sum.place(entry.input_count, sizeof(void *)));
  order = (uint64_t *)at(sum.place(parameters(), sizeof(uint64_t)));
  portions = (uint64_t *)at(sum.place(training->updates + 2, sizeof(uint64_t)));
  firstTask = (uint64_t *)at(sum.place(parameters() + 1, sizeof(uint64_t)));
  numbers = (double *)at(sum.place(parameters(), sizeof(double)));
  trust = (double *)at(sum.place(parameters(), sizeof(double)));
  rates = (double *)at(sum.place(parameters(), sizeof(double)));
  decays = (double *)at(sum.place(parameters(), sizeof(double)));
  uint64_t tasks = 0;
  for (uint64_t p = 0; p < parameters(); ++p)
    tasks += mille::tasksOf(training->parameters[p]);
  squares = (double *)at(sum.place(tasks, sizeof(double)));
  sums = (Lengths *)at(sum.place(tasks, sizeof(Lengths)));
}

// Piece by piece: the file's pages go as the trainer's come.
void mille_trainer::copyWeights() {
  constexpr uint64_t piece = 16 << 20;
  const mille::Weights &from = package->weights;
  const uint64_t all = from.tensorBytes();
  for (uint64_t at = 0; at < all; at += piece) {
    const uint64_t count = all - at < piece ? all - at : piece;
    memcpy(weights + at, from.tensors + at, count);
    from.forget(from.tensors + at, count);
  }
}

void mille_trainer::drawWeights() {
  session->share(
      [](void *context, int64_t task, int) {
        mille_trainer &self = *(mille_trainer *)context;
        uint64_t parameter;
        const mille::Stretch part = self.stretch((uint64_t)task, parameter);
        const mille_parameter_info &by = self.training->parameters[parameter];
        const float *begin = self.at(self.weights, parameter);
        if (by.distribution != MILLE_DRAW_FROM_FILE)
          mille::draw(
              {(uint32_t)by.distribution, by.key, by.mean, by.std, by.cut},
              (uint64_t)(part.weight - begin), part.weight, part.count,
              self.features);
      },
      this, (int64_t)tasks());
}

// What a step needs of its entry.
mille_status mille_trainer::check(const mille_entry &entry) {
  const bool fits = inputNamed(entry, "labels") < entry.input_count &&
                    inputNamed(entry, "loss_weight") < entry.input_count &&
                    entry.output_count == 1;
  return fits ? MILLE_OK
              : package->message().set(
                    MILLE_INTERNAL,
                    "entry %s has not the inputs labels and loss_weight, and "
                    "one output",
                    entry.name);
}

mille_status mille_trainer::create(mille_package &of, const mille_size *given,
                                   size_t count, int threads) {
  package = &of;
  training = of.model->training;
  now = *training;
  setRate = NAN;
  features = mille_cpu_features();
  const uint32_t entries[] = {training->step_entry, training->eval_entry};
  for (uint32_t entry : entries)
    if (mille_status status = check(of.model->entries[entry]);
        status != MILLE_OK)
      return status;
  constexpr size_t mostSizes = MILLE_MAX_SIZES;
  mille_size part[mostSizes];
  if (count > mostSizes)
    return of.message().set(MILLE_INVALID_ARGUMENT,
                            "%zu sizes are given but a model has at most %zu",
                            count, mostSizes);
  for (size_t i = 0; i < count; ++i) {
    part[i] = given[i];
    if (given[i].name &&
        strcmp(given[i].name, of.model->sizes[mille::batchSize].name) == 0)
      part[i].value =
          (given[i].value + training->accumulate - 1) / training->accumulate;
  }
  mille_status status =
      mille_session_create_for(&of, part, count, threads, &session);
  if (status != MILLE_OK)
    return status;
  most = session->most;
  extent = of.weights.tensorBytes() + mille::drawnBytes(*of.model);
  Bytes sum;
  layOut(sum);
  slabBytes = sum.value;
  slab = sum.fits ? of.memory.zeros(slabBytes) : nullptr;
  if (!slab)
    return of.message().set(MILLE_OUT_OF_MEMORY,
                            "a trainer of %s needs %llu bytes beside its "
                            "session's %llu but memory was refused",
                            of.model->name, (ull)sum.value,
                            (ull)session->bytes);
  bytes = slabBytes + session->bytes + sizeof *this;
  Bytes placed;
  layOut(placed);
  copyWeights();
  session->run.weights = weights;
  for (uint64_t p = 0; p < parameters(); ++p)
    takeGroup(p);
  orderParameters();
  status = placeGradients();
  if (status != MILLE_OK)
    return of.message().set(status, "%s", message.text);
  if (mille::drawnBytes(*of.model))
    drawWeights();
  return MILLE_OK;
}

void mille_trainer::destroy() {
  mille_package *from = package;
  mille::Memory memory = from->memory;
  mille_session_close(session);
  if (slab)
    memory.releaseZeros(slab, slabBytes);
  if (gradients)
    memory.releaseZeros(gradients, gradientBytes);
  memory.release(memory.user, this);
  from->leave();
}

// Labels that are numbers count all; fails at one that is not finite.
mille_status mille_trainer::countNumbers(const float *values, uint64_t count,
                                         int64_t &labels) {
  for (uint64_t i = 0; i < count; ++i)
    if (!isfinite(values[i]))
      return message.set(MILLE_INVALID_INPUT,
                         "labels[%llu] is %g but must be finite", (ull)i,
                         values[i]);
  labels = (int64_t)count;
  return MILLE_OK;
}

// The labels that count; fails at one that the model has not.
mille_status mille_trainer::countLabels(const mille_entry &entry,
                                        const mille::Sizes &sizes,
                                        const void *const *given,
                                        int64_t &labels) {
  const uint32_t number = inputNamed(entry, "labels");
  const mille_tensor_info &info = entry.inputs[number];
  auto *values = (const int32_t *)given[number];
  uint64_t count = 0;
  if (!values || !mille::countElements(info, sizes, count))
    return message.set(MILLE_INVALID_ARGUMENT, "labels are null");
  if (info.type == MILLE_F32)
    return countNumbers((const float *)values, count, labels);
  labels = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (values[i] == ignored)
      continue;
    if (values[i] < 0 || values[i] >= training->labels)
      return message.set(MILLE_INVALID_INPUT,
                         "labels[%llu] is %d but must be %d or in 0 to %lld",
                         (ull)i, values[i], ignored, (ll)training->labels - 1);
    ++labels;
  }
  return labels ? MILLE_OK
                : message.set(MILLE_INVALID_INPUT,
                              "all %llu labels are %d, so nothing is learnt",
                              (ull)count, ignored);
}

// What runs before the losses is the way forward.
mille_status mille_trainer::runPart(uint32_t number, const mille_size *part,
                                    size_t count) {
  const bool timed = !session->watch;
  if (timed) {
    session->watch = seeLosses;
    session->watchContext = this;
  }
  lossAt = 0;
  const int64_t begin = mille::nanosecondsOf(CLOCK_MONOTONIC),
                updates = times.update;
  mille_status status =
      mille_session_run_entry(session, number, part, count, inputs, &losses);
  const int64_t end = mille::nanosecondsOf(CLOCK_MONOTONIC),
                between = lossAt ? lossAt : end;
  times.forward += between - begin;
  times.backward += end - between - (times.update - updates);
  if (timed)
    session->watch = nullptr;
  return status == MILLE_OK
             ? status
             : message.set(status, "%s", mille_session_message(session));
}

// Runs the batch in as many parts as the package says, one after the other, and
// adds up their losses in the order of the tokens.
mille_status mille_trainer::runParts(uint32_t number, const mille_size *given,
                                     size_t count, const void *const *tensors,
                                     double &loss, int64_t &labels) {
  const mille_model &model = *package->model;
  const mille_entry &entry = model.entries[number];
  mille_size part[MILLE_MAX_SIZES]; // each size is given once at most
  mille::Sizes whole, sizes;
  mille_status status = takeSizes(model, given, count, "", whole, message);
  if (status == MILLE_OK)
    status = countLabels(entry, whole, tensors, labels);
  if (status != MILLE_OK)
    return status;
  const bool steps = number == training->step_entry;
  if (steps && whole.batch() % training->accumulate)
    return message.set(MILLE_INVALID_ARGUMENT,
                       "batch is %lld but must be a multiple of %lld, the "
                       "parts that a step accumulates",
                       (ll)whole.batch(), (ll)training->accumulate);
  const int64_t each =
      steps ? whole.batch() / training->accumulate
            : (whole.batch() < most.batch() ? whole.batch() : most.batch());
  sizes = whole;
  *lossWeight = (float)(1 / (double)labels);
  loss = 0;
  for (int64_t first = 0; first < whole.batch(); first += each) {
    const int64_t rest = whole.batch() - first;
    sizes.of[mille::batchSize] = rest < each ? rest : each;
    for (size_t i = 0; i < count; ++i) {
      part[i] = given[i];
      if (strcmp(given[i].name, model.sizes[mille::batchSize].name) == 0)
        part[i].value = sizes.batch();
    }
    for (uint32_t i = 0; i < entry.input_count; ++i) {
      const mille_tensor_info &info = entry.inputs[i];
      uint64_t elements = 0;
      mille::countElements(info, sizes, elements);
      const bool cut = info.rank && info.shape[0] == ~(int64_t)mille::batchSize;
      inputs[i] = tensors[i] && cut ? (const char *)tensors[i] +
                                          first * (elements / sizes.batch()) * 4
                                    : tensors[i];
    }
    inputs[inputNamed(entry, "loss_weight")] = lossWeight;
    if (const uint32_t at = inputNamed(entry, "step");
        at < entry.input_count && !inputs[at]) {
      *stepNumber = step < INT32_MAX ? (int32_t)step : INT32_MAX;
      inputs[at] = stepNumber;
    }
    if (const uint32_t at = inputNamed(entry, "first_sequence");
        at < entry.input_count && !inputs[at]) {
      stepNumber[1] = (int32_t)first;
      inputs[at] = stepNumber + 1;
    }
    status = runPart(number, part, count);
    if (status != MILLE_OK)
      return status;
    // The session forgets what comes between two runs, or at the end of one.
    if (phase.load() == cancelled)
      return message.set(MILLE_CANCELLED, "the run was cancelled");
    addLosses(entry, sizes, loss);
  }
  return MILLE_OK;
}

// Adds the losses that a run of these sizes has computed, in their order.
void mille_trainer::addLosses(const mille_entry &entry,
                              const mille::Sizes &sizes, double &loss) const {
  uint64_t rows = 0;
  mille::countElements(entry.outputs[0], sizes, rows);
  for (uint64_t i = 0; i < rows; ++i)
    loss += losses[i];
}

double mille_trainer::lossOfRun() const {
  double loss = 0;
  addLosses(*session->entry, session->sizes, loss);
  return loss;
}

mille_status mille_trainer::checkWhole() {
  return torn ? message.set(MILLE_INVALID_ARGUMENT,
                            "step %lld failed when some weights had changed: "
                            "load a checkpoint",
                            (ll)step + 1)
              : MILLE_OK;
}

mille_status mille_trainer::cancel() {
  cancels.add(1);
  const mille_status status = phase.change(computing, cancelled)
                                  ? mille_session_cancel(session)
                                  : MILLE_OK;
  cancels.add(-1);
  return status;
}

// A cancel of what ran before must not reach the session in a later step.
void mille_trainer::begin() {
  while (cancels.load())
    sched_yield();
  phase.store(computing);
}

// A step but for the updates that no layer has made.
mille_status mille_trainer::compute(const mille_size *sizes, size_t count,
                                    const void *const *given,
                                    mille_step_report &report) {
  if (dirty)
    clearGradients();
  dirty = true;
  updatesDone = 0;
  halted = false;
  times = {};
  rateNow = isnan(setRate) ? mille::rateAt(now, step) : setRate;
  for (uint64_t p = 0; p < parameters(); ++p)
    numbers[p] = 0;
  begin();
  double loss = 0;
  int64_t labels = 0;
  mille_status status =
      runParts(training->step_entry, sizes, count, given, loss, labels);
  if (layerByLayer)
    status = endLayers(status, sizes, count, given, loss);
  else if (status == MILLE_OK)
    findSquares();
  report = {step + 1, loss, labels, gradientNorm(), rateNow};
  return status;
}

mille_status mille_trainer::train(const mille_size *sizes, size_t count,
                                  const void *const *given,
                                  mille_step_report &report) {
  mille_status status = checkWhole();
  hasGradients = false;
  if (status == MILLE_OK)
    status = compute(sizes, count, given, report);
  if (status != MILLE_OK)
    return status;
  if (!layerByLayer) {
    const double norm = report.gradient_norm, clip = now.clip;
    if (!isfinite(report.loss) || !isfinite(norm))
      return failStep(sizes, count, given, report.loss, norm);
    applyUpdate(0, parameters(), rateNow,
                clip > 0 && norm > clip ? clip / (norm + 1e-6) : 1,
                /*checked=*/false);
  }
  dirty = false;
  ++step;
  addStep(report, batchOf(*package->model, sizes, count));
  return MILLE_OK;
}

// From the first call on gradients of all layers have memory.
mille_status mille_trainer::differentiate(const mille_size *sizes, size_t count,
                                          const void *const *given,
                                          mille_step_report &report) {
  mille_status status = checkWhole();
  hasGradients = false;
  if (status == MILLE_OK && !keepsGradients) {
    keepsGradients = true;
    status = placeGradients();
    keepsGradients = status == MILLE_OK;
  }
  if (status == MILLE_OK)
    status = compute(sizes, count, given, report);
  hasGradients = status == MILLE_OK;
  return status;
}

mille_status mille_trainer::findParameter(const char *name, size_t count,
                                          uint64_t &found) {
  for (uint64_t p = 0; p < parameters(); ++p) {
    if (strcmp(nameOf(p), name) != 0)
      continue;
    const mille_parameter_info &parameter = training->parameters[p];
    if (parameter.elements != count)
      return message.set(MILLE_INVALID_ARGUMENT,
                         "%s has %llu numbers but room for %zu is given", name,
                         (ull)parameter.elements, count);
    found = p;
    return MILLE_OK;
  }
  return message.set(MILLE_INVALID_ARGUMENT, "no parameter is called %s", name);
}

mille_status mille_trainer::copyGradient(const char *name, float *to,
                                         size_t count) {
  if (!hasGradients)
    return message.set(MILLE_INVALID_ARGUMENT,
                       "there are no gradients: mille_trainer_gradients "
                       "computes them, and a step uses them up");
  uint64_t parameter;
  const mille_status status = findParameter(name, count, parameter);
  if (status == MILLE_OK)
    memcpy(to, gradientOf(parameter), count * sizeof(float));
  return status;
}

mille_status mille_trainer::copyWeight(const char *name, float *to,
                                       size_t count) {
  uint64_t parameter;
  mille_status status = checkWhole();
  if (status == MILLE_OK)
    status = findParameter(name, count, parameter);
  if (status == MILLE_OK)
    memcpy(to, at(weights, parameter), count * sizeof(float));
  return status;
}

// The rest of a step whose layers are updated, unless it has failed.
mille_status mille_trainer::endLayers(mille_status status,
                                      const mille_size *sizes, size_t count,
                                      const void *const *given, double &loss) {
  if (halted) {
    loss = lossOfRun();
    return failStep(sizes, count, given, loss,
                    updatesDone ? gradientNorm() : NAN);
  }
  torn = status != MILLE_OK && updatesDone;
  if (status == MILLE_OK &&
      !applyUpdate(portions[training->updates], parameters(), rateNow, 1,
                   /*checked=*/true))
    return failStep(sizes, count, given, loss, gradientNorm());
  return status;
}

mille_status mille_trainer::evaluate(const mille_size *sizes, size_t count,
                                     const void *const *given, double &loss,
                                     int64_t &labels) {
  if (mille_status status = checkWhole(); status != MILLE_OK)
    return status;
  begin();
  return runParts(training->eval_entry, sizes, count, given, loss, labels);
}
