// Cuts an imported model to a small one with some of its layers and a stream as
// input, to measure rewrites. Must not change the results of kept layers.
#pragma once
#include "dialects/transformer/Transformer.h"

namespace mille::rewrite {

struct Sample {
  int64_t layers = 0, ofLayers = 0;
  int64_t units = 0;      // in the kept layers
  int64_t parameters = 0; // elements of all parameters that its ops read
  int64_t streams = 0;    // inputs "stream", "stream.2", ...
};

// Keeps two of the layers that have the same ops. The value that the first unit
// of each stack reads becomes an input, so that any stream can be tried.
// Outputs of --hidden-states are removed.
Sample cutToSample(transformer::ModelOp model);

} // namespace mille::rewrite
