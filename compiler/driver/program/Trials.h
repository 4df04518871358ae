// Inputs for measuring rewrites: streams that are random, and streams that are
// hard on norms and sums. Must not run anything.
#pragma once
#include "compiler/driver/program/Certificate.h"

namespace mille {

// For every input of the sample `model`; the same numbers each time, all of
// them f32 numbers.
std::vector<Trial> trialsFor(transformer::ModelOp model);

// Every number x of the floats becomes x (1 + 2 rounding) or x (1 - 2
// rounding): another number of that type.
void moveByRounding(Values &inputs, double rounding);

} // namespace mille
