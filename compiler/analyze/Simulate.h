// Measures the numbers that Moments predicts: runs random, narrower stacks of
// the same form forward and backward in double. Must not share formulas with
// Moments.
#pragma once
#include "compiler/analyze/Moments.h"

namespace mille::analyze {

struct SimulationOptions {
  int64_t width = 64; // channels of the stream that is simulated
  int64_t draws = 6;
  uint64_t seed = 1;
};

// Means over draws. Those of gradients and updates are geometric, since their
// logarithms walk randomly with depth, and so describe a typical draw. Maps
// keep their ratio to the stream's width. Moments do not depend on the width
// but updates do: compare with predictions for the `narrowed` stack.
Moments simulate(const Stack &full, const SimulationOptions &options);

// Twice the deviation of the mean cosine of unrelated streams over the draws. A
// simulated weight of the input below it may as well be 0.
double cosineFloor(const SimulationOptions &options);

// Scales the widths of a stack so that the stream has `width` channels, and the
// moments of weights so that every map changes moments as before.
Stack narrowed(const Stack &stack, int64_t width);

} // namespace mille::analyze
