// The learning rate of a step: it follows from the step's number alone.
// Must keep no state.
#pragma once
#include "runtime/abi.h"

namespace mille {

// The rate of step `step`, which counts from 0, in double. It rises evenly to
// `peak` in the first `warmup` steps (the first has peak / warmup); then it
// stays, or falls towards `end`, which it has from step `steps` on: linearly,
// with a cosine, or as 1 / sqrt(step + 1).
double rateAt(const mille_training_info &training, int64_t step);

} // namespace mille
