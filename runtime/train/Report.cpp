// What a trainer has done and holds, and how a step changed each parameter.
// Must not change what steps compute.
#include "runtime/Clock.h"
#include "runtime/train/Trainer.h"

#include <math.h>

// Which launch gives losses is seen by where it writes.
int32_t mille_trainer::seeLosses(void *trainer, const mille_stage &stage) {
  mille_trainer &self = *(mille_trainer *)trainer;
  for (uint32_t b = 0; b < stage.kernel->buffer_count; ++b)
    if (stage.buffers[b].host == (void *)self.losses)
      self.lossAt = mille::nanosecondsOf(CLOCK_MONOTONIC);
  return 0;
}

void mille_trainer::addStep(const mille_step_report &done, int64_t sequences) {
  last = done;
  ++stepsMade;
  sequencesSeen += sequences;
  labelsSeen += done.labels;
  allTimes.forward += times.forward;
  allTimes.backward += times.backward;
  allTimes.update += times.update;
}

void mille_trainer::report(mille_training_report &report) const {
  const mille::StepTimes &t = allTimes;
  report = {};
  report.last = last;
  report.steps = stepsMade;
  report.sequences = sequencesSeen;
  report.labels = labelsSeen;
  report.seconds = 1e-9 * (double)(t.forward + t.backward + t.update);
  report.forward_seconds = 1e-9 * (double)t.forward;
  report.backward_seconds = 1e-9 * (double)t.backward;
  report.update_seconds = 1e-9 * (double)t.update;
  report.bytes = bytes;
  report.weight_bytes = extent;
  report.state_bytes = extent * (uint64_t)stateCount();
  report.gradient_bytes = gradientBytes;
  report.session_bytes = session->bytes;
}

void mille_trainer::describe(uint64_t number,
                             mille_trained_parameter &parameter) const {
  const mille_parameter_info &info = training->parameters[number];
  parameter = {};
  parameter.name = nameOf(number);
  parameter.elements = (int64_t)info.elements;
  parameter.rank = info.rank;
  for (uint64_t d = 0; d < info.rank; ++d)
    parameter.shape[d] = info.shape[d];
  parameter.gradient_norm = sqrt(numbers[number]);
  parameter.rate = rates[number];
  parameter.weight_decay = decays[number];
  parameter.trust = training->optimizer == MILLE_OPTIMIZER_LAMB && stepsMade
                        ? trust[number]
                        : 1;
}
