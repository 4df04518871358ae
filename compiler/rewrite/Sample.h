// A small model out of an imported one, to measure rewrites on: some of its
// layers, fed with a stream. Must not change what a layer that stays computes.
#pragma once
#include "dialects/transformer/Transformer.h"

namespace mille::rewrite {

struct Sample {
  int64_t layers = 0, ofLayers = 0;
  int64_t units = 0;      // in the layers that stay
  int64_t parameters = 0; // numbers that its ops read
  int64_t streams = 0;    // inputs "stream", "stream.2", ...
};

// Of layers with the same ops two stay. What the first unit of each stack reads
// becomes an input, so that any stream can be tried. Nothing is kept on the
// way.
Sample cutToSample(transformer::ModelOp model);

} // namespace mille::rewrite
