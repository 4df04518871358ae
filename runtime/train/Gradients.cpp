// Where gradients lie, and the updates by them: of all parameters at a step's
// end, or of a layer's when the loop back leaves it, with the same bits.
// Must not compute gradients.
#include "runtime/Clock.h"
#include "runtime/train/Trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

using mille::Bytes;
using mille::Lengths;
using mille::Stretch;
using mille::UpdateNumbers;

using ull = unsigned long long;

int32_t mille_update(mille_run *run) {
  mille_session &session = *((mille::Run *)run)->session;
  return session.update ? session.update(session.updateContext) : 0;
}

// The model's order within each portion.
void mille_trainer::orderParameters() {
  const uint64_t count = training->updates + 1;
  auto portionOf = [&](uint64_t parameter) {
    const uint64_t call = training->parameters[parameter].whole_at;
    return call ? call - 1 : training->updates;
  };
  for (uint64_t p = 0; p < parameters(); ++p)
    ++portions[portionOf(p) + 1];
  for (uint64_t portion = 0; portion < count; ++portion)
    portions[portion + 1] += portions[portion];
  for (uint64_t p = 0; p < parameters(); ++p)
    order[portions[portionOf(p)]++] = p;
  for (uint64_t portion = count; portion > 0; --portion)
    portions[portion] = portions[portion - 1];
  portions[0] = 0;
  uint64_t tasks = 0;
  for (uint64_t place = 0; place < parameters(); ++place) {
    firstTask[place] = tasks;
    tasks += mille::tasksOf(training->parameters[order[place]]);
  }
  firstTask[parameters()] = tasks;
}

namespace {
struct Placed {
  uint64_t weight, gradient; // offsets
};
int byWeight(const void *left, const void *right) {
  const uint64_t a = ((const Placed *)left)->weight,
                 b = ((const Placed *)right)->weight;
  return a < b ? -1 : a > b;
}
} // namespace

// Portions but the last share the bytes of the largest. table null: the sum
// alone.
void mille_trainer::placePortions(uint64_t *table, Bytes &sum) const {
  const mille_weights_header &header =
      *(const mille_weights_header *)package->weights.data;
  const uint64_t entries = header.table_count;
  Placed *places = table ? (Placed *)(table + entries) : nullptr;
  uint64_t most = 0;
  for (uint64_t portion = 0; portion <= training->updates; ++portion) {
    Bytes own;
    const bool last = portion == training->updates;
    for (uint64_t at = portions[portion]; at < portions[portion + 1]; ++at) {
      const uint64_t p = order[at];
      const uint64_t offset =
          own.place(training->parameters[p].elements, sizeof(float));
      if (places)
        places[p] = {package->weights.table[training->parameters[p].entry],
                     offset + (last ? most : 0)};
    }
    sum.fits = sum.fits && own.fits;
    if (!last)
      most = own.value > most ? own.value : most;
    else
      sum.add(most).add(own.value);
  }
  if (!table)
    return;
  qsort(places, parameters(), sizeof *places, byWeight);
  for (uint64_t e = 0; e < entries; ++e) {
    const uint64_t offset = package->weights.table[e];
    uint64_t low = 0, high = parameters();
    while (high - low > 1) {
      const uint64_t middle = (low + high) / 2;
      (places[middle].weight <= offset ? low : high) = middle;
    }
    // What is no parameter's place has no gradient.
    table[e] = places[low].weight == offset ? places[low].gradient : 0;
  }
}

// Layer by layer where nothing asks for all gradients at once.
mille_status mille_trainer::placeGradients() {
  const bool wanted = training->updates && training->accumulate == 1 &&
                      !(now.clip > 0) && !keepsGradients;
  if (gradients && wanted == layerByLayer)
    return MILLE_OK;
  const mille_weights_header &header =
      *(const mille_weights_header *)package->weights.data;
  Bytes numbers;
  if (wanted)
    placePortions(nullptr, numbers);
  else
    numbers.add(extent);
  Bytes sum = numbers;
  const uint64_t tableAt =
      sum.place(wanted ? header.table_count * sizeof(uint64_t) +
                             parameters() * sizeof(Placed)
                       : 0,
                1);
  const mille::Memory &memory = package->memory;
  char *made = sum.fits ? memory.zeros(sum.value) : nullptr;
  if (!made)
    return message.set(MILLE_OUT_OF_MEMORY,
                       "the gradients of %s need %llu bytes but memory was "
                       "refused",
                       package->model->name, (ull)sum.value);
  if (gradients) {
    memory.releaseZeros(gradients, gradientBytes);
    bytes -= gradientBytes;
  }
  gradients = made;
  gradientBytes = sum.value;
  bytes += gradientBytes;
  layerByLayer = wanted;
  gradientTable = package->weights.table;
  if (wanted) {
    Bytes again;
    placePortions((uint64_t *)(made + tableAt), again);
    gradientTable = (const uint64_t *)(made + tableAt);
  }
  dirty = false;
  session->run.gradients = gradients;
  session->run.gradient_table = gradientTable;
  session->update = wanted ? layerDone : nullptr;
  session->updateContext = this;
  return MILLE_OK;
}

void mille_trainer::clearGradients() {
  session->share(
      [](void *context, int64_t task, int) {
        mille_trainer &self = *(mille_trainer *)context;
        uint64_t parameter;
        const Stretch part = self.stretch((uint64_t)task, parameter);
        memset(part.gradient, 0, part.count * sizeof(float));
      },
      this, (int64_t)tasks());
  dirty = false;
}

Stretch mille_trainer::stretch(uint64_t task, uint64_t &parameter) const {
  uint64_t low = 0, high = parameters();
  while (high - low > 1) {
    const uint64_t middle = (low + high) / 2;
    (firstTask[middle] <= task ? low : high) = middle;
  }
  parameter = order[low];
  const uint64_t first = (task - firstTask[low]) * mille::stretchNumbers,
                 rest = training->parameters[parameter].elements - first;
  Stretch part = {at(weights, parameter) + first, gradientOf(parameter) + first,
                  nullptr, nullptr,
                  rest < mille::stretchNumbers ? rest : mille::stretchNumbers};
  if (stateCount() > 0)
    part.first = at(states[0], parameter) + first;
  if (stateCount() > 1)
    part.second = at(states[1], parameter) + first;
  return part;
}

namespace {
struct UpdateTask {
  mille_trainer *trainer;
  uint64_t first; // task
  double rate, scale;
  bool checked;
  UpdateNumbers of(uint64_t parameter) const {
    return UpdateNumbers(trainer->now, rate * trainer->rates[parameter],
                         trainer->decays[parameter], scale, trainer->step + 1,
                         trainer->features);
  }
};

void square(void *context, int64_t number, int) {
  const UpdateTask &job = *(const UpdateTask *)context;
  mille_trainer &self = *job.trainer;
  const uint64_t task = job.first + (uint64_t)number;
  uint64_t parameter;
  const Stretch part = self.stretch(task, parameter);
  self.squares[task] =
      mille::squareSum(part.gradient, part.count, self.features);
}

void change(void *context, int64_t number, int thread) {
  const UpdateTask &job = *(const UpdateTask *)context;
  mille_trainer &self = *job.trainer;
  const uint64_t task = job.first + (uint64_t)number;
  if (job.checked) {
    square(context, number, thread);
    if (!isfinite(self.squares[task])) {
      self.infinite.store(1);
      return;
    }
  }
  uint64_t parameter;
  const Stretch part = self.stretch(task, parameter);
  self.sums[task] = mille::update(part, job.of(parameter));
}
} // namespace

void mille_trainer::addSquares(uint64_t first, uint64_t end) {
  for (uint64_t place = first; place < end; ++place) {
    double sum = 0;
    for (uint64_t task = firstTask[place]; task < firstTask[place + 1]; ++task)
      sum += squares[task];
    numbers[order[place]] = sum;
  }
}

void mille_trainer::findSquares() {
  const mille::Elapsed elapsed(times.update);
  UpdateTask job = {this, 0, 0, 0, false};
  session->share(square, &job, (int64_t)tasks());
  addSquares(0, parameters());
}

// The length of the whole gradient, in the model's order.
double mille_trainer::gradientNorm() const {
  double all = 0;
  for (uint64_t p = 0; p < parameters(); ++p)
    all += numbers[p];
  return sqrt(all);
}

bool mille_trainer::applyUpdate(uint64_t first, uint64_t end, double rate,
                                double scale, bool checked) {
  const mille::Elapsed elapsed(times.update);
  UpdateTask job = {this, firstTask[first], rate, scale, checked};
  infinite.store(0);
  session->share(change, &job, (int64_t)(firstTask[end] - firstTask[first]));
  if (checked)
    addSquares(first, end);
  if (infinite.load())
    return false;
  if (training->optimizer != MILLE_OPTIMIZER_LAMB)
    return true;
  for (uint64_t place = first; place < end; ++place) {
    Lengths all = {0, 0};
    for (uint64_t task = firstTask[place]; task < firstTask[place + 1];
         ++task) {
      all.weight += sums[task].weight;
      all.update += sums[task].update;
    }
    trust[order[place]] = all.weight > 0 && all.update > 0
                              ? sqrt(all.weight) / sqrt(all.update)
                              : 1;
  }
  session->share(
      [](void *context, int64_t number, int) {
        const UpdateTask &job = *(const UpdateTask *)context;
        uint64_t parameter;
        const Stretch part =
            job.trainer->stretch(job.first + (uint64_t)number, parameter);
        mille::applyLamb(part, job.of(parameter),
                         job.trainer->trust[parameter]);
      },
      &job, (int64_t)(firstTask[end] - firstTask[first]));
  return true;
}

// The losses are known before the first layer is done: where they are not
// finite, no weight changes.
int32_t mille_trainer::layerDone(void *trainer) {
  mille_trainer &self = *(mille_trainer *)trainer;
  const uint64_t portion = self.updatesDone;
  if (portion >= self.training->updates)
    return MILLE_INTERNAL;
  if (portion == 0) {
    if (!self.lossAt) // no launch gave them
      self.lossAt = mille::nanosecondsOf(CLOCK_MONOTONIC);
    self.halted = !isfinite(self.lossOfRun());
    if (self.halted)
      return MILLE_INVALID_INPUT;
    if (!self.phase.change(computing, updating))
      return MILLE_CANCELLED;
  }
  ++self.updatesDone;
  self.halted = !self.applyUpdate(self.portions[portion],
                                  self.portions[portion + 1], self.rateNow, 1,
                                  /*checked=*/true);
  return self.halted ? MILLE_INVALID_INPUT : 0;
}
