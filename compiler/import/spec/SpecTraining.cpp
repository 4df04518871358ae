// Reads the key `train`: the optimizer, the rate's schedule, groups.
// Must not know what a step does.
#include "compiler/import/spec/Spec.h"
#include "llvm/Support/GlobPattern.h"

using namespace mille;
using namespace mille::import;
using llvm::StringRef;
using llvm::Twine;

namespace {

// A number from 0, or below `end` where that is not 0.
double numberFrom0(SpecFields &fields, StringRef key, double end = 0) {
  const double value = fields.real(key);
  if (value >= 0 && (end == 0 || value < end))
    return value;
  fields.error(key, key + " is " + transformer::formatDouble(value) +
                        " but must be at least 0" +
                        (end == 0 ? "" : " and below 1"));
  return 0;
}

TrainingGroup readGroup(SpecFields &fields, double decay) {
  TrainingGroup group;
  group.match = fields.text("match", "");
  if (!fields.has("match"))
    fields.error("match", "match is not given: which parameters are meant");
  auto pattern =
      llvm::GlobPattern::create(group.match, Training::mostAlternatives);
  if (!pattern)
    fields.error("match", "match is '" + group.match +
                              "', which is no pattern: " +
                              llvm::toString(pattern.takeError()));
  group.rate = numberFrom0(fields, "rate");
  group.decay =
      fields.has("weight_decay") ? numberFrom0(fields, "weight_decay") : decay;
  fields.refuseRest();
  return group;
}

} // namespace

Training mille::import::readTraining(SpecFields &fields) {
  Training training;
  training.loss = Loss(fields.choice("loss"));
  training.optimizer = Optimizer(fields.choice("optimizer"));
  training.rate = fields.real("rate");
  training.schedule = RateSchedule(fields.choice("schedule"));
  training.warmup = fields.count("warmup");
  training.steps = fields.count("steps");
  training.endRate = numberFrom0(fields, "end_rate");
  training.momentum = numberFrom0(fields, "momentum", 1);
  training.beta1 = numberFrom0(fields, "beta1", 1);
  training.beta2 = numberFrom0(fields, "beta2", 1);
  training.epsilon = fields.real("epsilon");
  training.decay = numberFrom0(fields, "weight_decay");
  training.clip = numberFrom0(fields, "clip");
  training.smoothing = numberFrom0(fields, "label_smoothing", 1);
  training.dropout = numberFrom0(fields, "dropout", 1);
  training.accumulate = fields.whole("accumulate").value;
  training.balance = numberFrom0(fields, "expert_balance");
  if (training.balance > 0 && training.accumulate > 1)
    fields.error("expert_balance",
                 "expert_balance is given but accumulate is " +
                     Twine(training.accumulate) +
                     ": the load of experts is that of a whole batch");
  const bool falls = training.schedule == RateSchedule::linear ||
                     training.schedule == RateSchedule::cosine;
  if (falls && training.steps <= training.warmup)
    fields.error("steps", "steps is " + Twine(training.steps) +
                              " but must be more than warmup, which is " +
                              Twine(training.warmup) +
                              ", for a rate that falls");
  if (training.momentum > 0 && training.optimizer != Optimizer::sgd)
    fields.error("momentum", "momentum is given but only sgd has one");
  if (const json::Value *groups = fields.list("groups"))
    for (const json::Value &object : groups->items) {
      SpecFields group = fields.as(object, "group", "a group");
      training.groups.push_back(readGroup(group, training.decay));
    }
  fields.refuseRest();
  return training;
}
