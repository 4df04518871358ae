// The same numbers measured: random stacks of the same form, narrower, run
// forward and backward in double. Shares no formula with Moments.
#pragma once
#include "compiler/analyze/Moments.h"

namespace mille::analyze {

struct SimulationOptions {
  int64_t width = 64; // channels of the stream that is simulated
  int64_t draws = 6;
  uint64_t seed = 1;
};

// Means over draws; of gradients and updates, whose logarithms walk with depth,
// geometric means: a draw as most are. Wider maps keep their ratio to the
// stream's width; moments do not depend on it, updates do: predict on
// `narrowed` to compare.
Moments simulate(const Stack &full, const SimulationOptions &options);

// The stack with its widths scaled so that the stream has `width` channels,
// and weights' moments so that every map keeps what it does to a moment.
Stack narrowed(const Stack &stack, int64_t width);

} // namespace mille::analyze
