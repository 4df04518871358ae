// Makes inputs for measuring rewrites: random ones, and some that are hard for
// norms and sums. Must not run anything.
#pragma once
#include "compiler/driver/program/Certificate.h"

namespace mille {

// Values for every input of the sample `model`. The numbers are the same each
// time, and each is representable in f32. Unless `all`, few random rows.
std::vector<Trial> trialsFor(transformer::ModelOp model, bool all);

// How many rows of a trial of few rows each weight multiplies.
int64_t rowsOf(transformer::ModelOp model);

// Multiplies every number of the float inputs by 1 + 2 rounding or 1 - 2
// rounding, which gives a neighbouring number of the type.
void moveByRounding(Values &inputs, double rounding);

} // namespace mille
