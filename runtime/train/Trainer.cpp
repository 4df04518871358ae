// A training step: runs of the batch's parts add to the gradients, then one
// update changes the weights. Every sum has one order, whatever the threads do.
// Must not decide how a model is trained: the package says it.
#include "runtime/train/Trainer.h"
#include "runtime/train/Rate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

using mille::Bytes;
using mille::Lengths;
using mille::Stretch;
using mille::UpdateNumbers;

using ll = long long;
using ull = unsigned long long;

const char *const mille::noteNames[mille::noteCount] = {"seed", "data"};

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

} // namespace

// Called twice: without a slab it sums sizes, with a slab it places pointers.
void mille_trainer::layOut(Bytes &sum) {
  auto at = [&](uint64_t offset) { return slab ? slab + offset : nullptr; };
  const mille_entry &entry = package->model->entries[training->step_entry];
  weights = at(sum.place(1, extent));
  gradients = at(sum.place(1, extent));
  for (int state = 0; state < stateCount(); ++state)
    states[state] = at(sum.place(1, extent));
  uint64_t rows = 0;
  sum.fits = sum.fits && mille::countElements(entry.outputs[0], most, rows);
  losses = (float *)at(sum.place(rows, sizeof(float)));
  lossWeight = (float *)at(sum.place(1, sizeof(float)));
  stepNumber = (int32_t *)at(sum.place(2, sizeof(int32_t)));
  inputs = (const void **)at(sum.place(entry.input_count, sizeof(void *)));
  firstTask = (uint64_t *)at(sum.place(parameters() + 1, sizeof(uint64_t)));
  numbers = (double *)at(sum.place(parameters(), sizeof(double)));
  uint64_t tasks = 0;
  for (uint64_t p = 0; p < parameters(); ++p) {
    if (slab)
      firstTask[p] = tasks;
    tasks += (training->parameters[p].elements + mille::stretchNumbers - 1) /
             mille::stretchNumbers;
  }
  if (slab)
    firstTask[parameters()] = tasks;
  sums = (Lengths *)at(sum.place(tasks, sizeof(Lengths)));
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
  setRate = setClip = NAN;
  features = mille_cpu_features();
  const uint32_t entries[] = {training->step_entry, training->eval_entry};
  for (uint32_t entry : entries)
    if (mille_status status = check(of.model->entries[entry]);
        status != MILLE_OK)
      return status;
  constexpr size_t mostSizes = MILLE_MAX_SIZES;
  mille_size part[mostSizes];
  if (count > mostSizes)
    return of.message().set(MILLE_INVALID_ARGUMENT, "%zu sizes are given",
                            count);
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
  extent = of.weights.bytes - (uint64_t)(of.weights.tensors - of.weights.data);
  Bytes sum;
  layOut(sum);
  slab = sum.fits ? (char *)of.memory.allocate(of.memory.user, sum.value, 64)
                  : nullptr;
  if (!slab)
    return of.message().set(MILLE_OUT_OF_MEMORY,
                            "a trainer of %s needs %llu bytes beside its "
                            "session's %llu but memory was refused",
                            of.model->name, (ull)sum.value,
                            (ull)session->bytes);
  bytes = sum.value + session->bytes + sizeof *this;
  memset(slab, 0, sum.value);
  Bytes placed;
  layOut(placed);
  memcpy(weights, of.weights.tensors, extent);
  session->run.weights = weights;
  session->run.gradients = gradients;
  return MILLE_OK;
}

void mille_trainer::destroy() {
  mille_package *from = package;
  mille::Memory memory = from->memory;
  mille_session_close(session);
  if (slab)
    memory.release(memory.user, slab);
  memory.release(memory.user, this);
  from->leave();
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

// Runs the batch in as many parts as the package says, one after the other, and
// adds up their losses in the order of the tokens.
mille_status mille_trainer::runParts(uint32_t number, const mille_size *given,
                                     size_t count, const void *const *tensors,
                                     double &loss, int64_t &labels) {
  const mille_model &model = *package->model;
  const mille_entry &entry = model.entries[number];
  constexpr size_t mostSizes = MILLE_MAX_SIZES;
  mille_size part[mostSizes];
  mille::Sizes whole, sizes;
  mille_status status = takeSizes(model, given, count, "", whole, message);
  if (status == MILLE_OK && count > mostSizes)
    status = message.set(MILLE_INVALID_ARGUMENT, "%zu sizes are given", count);
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
    status =
        mille_session_run_entry(session, number, part, count, inputs, &losses);
    if (status != MILLE_OK)
      return message.set(status, "%s", mille_session_message(session));
    uint64_t rows = 0;
    mille::countElements(entry.outputs[0], sizes, rows);
    for (uint64_t i = 0; i < rows; ++i)
      loss += losses[i];
  }
  return MILLE_OK;
}

Stretch mille_trainer::stretch(uint64_t task, uint64_t &parameter) const {
  uint64_t low = 0, high = parameters();
  while (high - low > 1) {
    const uint64_t middle = (low + high) / 2;
    (firstTask[middle] <= task ? low : high) = middle;
  }
  parameter = low;
  const uint64_t first = (task - firstTask[low]) * mille::stretchNumbers,
                 rest = training->parameters[low].elements - first;
  Stretch part = {at(weights, low) + first, at(gradients, low) + first, nullptr,
                  nullptr,
                  rest < mille::stretchNumbers ? rest : mille::stretchNumbers};
  if (stateCount() > 0)
    part.first = at(states[0], low) + first;
  if (stateCount() > 1)
    part.second = at(states[1], low) + first;
  return part;
}

// The length of the whole gradient. Each parameter's square is in `numbers`.
double mille_trainer::gradientNorm() {
  auto add = [](void *context, int64_t task, int) {
    mille_trainer &self = *(mille_trainer *)context;
    uint64_t parameter;
    const Stretch part = self.stretch((uint64_t)task, parameter);
    self.sums[task].update =
        mille::squareSum(part.gradient, part.count, self.features);
  };
  session->share(add, this, (int64_t)tasks());
  double all = 0;
  for (uint64_t p = 0; p < parameters(); ++p) {
    numbers[p] = 0;
    for (uint64_t task = firstTask[p]; task < firstTask[p + 1]; ++task)
      numbers[p] += sums[task].update;
    all += numbers[p];
  }
  return sqrt(all);
}

namespace {
struct UpdateTask {
  mille_trainer *trainer;
  double rate, scale;
  UpdateNumbers of(uint64_t parameter) const {
    const mille_training_info &training = *trainer->training;
    const mille_group_info &group =
        training.groups[training.parameters[parameter].group];
    return UpdateNumbers(training, rate * group.rate, group.decay, scale,
                         trainer->step + 1, trainer->features);
  }
};
} // namespace

void mille_trainer::applyUpdate(double rate, double scale) {
  UpdateTask job = {this, rate, scale};
  session->share(
      [](void *context, int64_t task, int) {
        const UpdateTask &job = *(const UpdateTask *)context;
        uint64_t parameter;
        const Stretch part = job.trainer->stretch((uint64_t)task, parameter);
        job.trainer->sums[task] = mille::update(part, job.of(parameter));
      },
      &job, (int64_t)tasks());
  if (training->optimizer != MILLE_OPTIMIZER_LAMB)
    return;
  for (uint64_t p = 0; p < parameters(); ++p) {
    Lengths all = {0, 0};
    for (uint64_t task = firstTask[p]; task < firstTask[p + 1]; ++task) {
      all.weight += sums[task].weight;
      all.update += sums[task].update;
    }
    numbers[p] = all.weight > 0 && all.update > 0
                     ? sqrt(all.weight) / sqrt(all.update)
                     : 1;
  }
  session->share(
      [](void *context, int64_t task, int) {
        const UpdateTask &job = *(const UpdateTask *)context;
        uint64_t parameter;
        const Stretch part = job.trainer->stretch((uint64_t)task, parameter);
        mille::applyLamb(part, job.of(parameter),
                         job.trainer->numbers[parameter]);
      },
      &job, (int64_t)tasks());
}

void mille_trainer::describeFailure(double loss, char *text,
                                    size_t size) const {
  for (uint64_t p = 0; p < parameters(); ++p) {
    const float *values = at(weights, p);
    for (uint64_t i = 0; i < training->parameters[p].elements; ++i)
      if (!isfinite(values[i])) {
        snprintf(text, size, "parameter %s has the value %g",
                 training->parameters[p].name, values[i]);
        return;
      }
  }
  // The loop back goes from the last layer to the first: the last parameter in
  // the model's order whose gradient is not finite is the first that it met.
  for (uint64_t p = parameters(); isfinite(loss) && p-- > 0;)
    if (!isfinite(numbers[p])) {
      snprintf(text, size, "the gradient of %s is not finite",
               training->parameters[p].name);
      return;
    }
  snprintf(text, size, "all parameters are finite");
}

mille_status mille_trainer::train(const mille_size *sizes, size_t count,
                                  const void *const *given,
                                  mille_step_report &report) {
  session->share(
      [](void *context, int64_t task, int) {
        mille_trainer &self = *(mille_trainer *)context;
        uint64_t parameter;
        const Stretch part = self.stretch((uint64_t)task, parameter);
        memset((void *)part.gradient, 0, part.count * sizeof(float));
      },
      this, (int64_t)tasks());
  double loss = 0;
  int64_t labels = 0;
  mille_status status =
      runParts(training->step_entry, sizes, count, given, loss, labels);
  if (status != MILLE_OK)
    return status;
  const double norm = gradientNorm();
  const double rate = isnan(setRate) ? mille::rateAt(*training, step) : setRate;
  const double clip = isnan(setClip) ? training->clip : setClip;
  report = {step + 1, loss, labels, norm, rate};
  if (!isfinite(loss) || !isfinite(norm)) {
    char why[256];
    describeFailure(loss, why, sizeof why);
    return message.set(MILLE_INVALID_INPUT,
                       "the loss of step %lld is %g and its gradient's length "
                       "%g: %s; the weights are as before the step",
                       (ll)step + 1, loss, norm, why);
  }
  applyUpdate(rate, clip > 0 && norm > clip ? clip / (norm + 1e-6) : 1);
  ++step;
  return MILLE_OK;
}

mille_status mille_trainer::evaluate(const mille_size *sizes, size_t count,
                                     const void *const *given, double &loss,
                                     int64_t &labels) {
  return runParts(training->eval_entry, sizes, count, given, loss, labels);
}

mille_status mille_trainer::set(const char *name, double value) {
  if (strcmp(name, "rate") == 0 || strcmp(name, "clip") == 0) {
    if (isinf(value) || value < 0)
      return message.set(MILLE_INVALID_ARGUMENT,
                         "%s is %g but must be at least 0, or NAN for the "
                         "package's",
                         name, value);
    (*name == 'r' ? setRate : setClip) = value;
    return MILLE_OK;
  }
  mille_status status = mille_session_set_scale(session, name, value);
  return status == MILLE_OK
             ? status
             : message.set(status,
                           "%s, and a trainer's numbers are rate and "
                           "clip",
                           mille_session_message(session));
}
