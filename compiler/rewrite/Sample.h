// Cuts an imported model to a small one with some of its layers and a stream as
// input, to measure rewrites. Must not change the results of kept layers.
#pragma once
#include "dialects/transformer/Transformer.h"

namespace mille::rewrite {

struct Sample {
  int64_t layers = 0, ofLayers = 0;
  int64_t units = 0;      // in the kept layers
  int64_t parameters = 0; // elements of all parameters that its ops read
  int64_t thinned = 1;    // of so many rows of a weight one is kept
  int64_t columns = 0;    // of a linear that an output is; 0: all
  int64_t streams = 0;    // inputs "stream", "stream.2", ...
};

// Keeps two of the layers that have the same ops. The value that the first unit
// of each stack reads becomes an input, so that any stream can be tried.
// Outputs of --hidden-states are removed.
Sample cutToSample(transformer::ModelOp model);

// Keeps few columns of each linear that is an output, as of a vocabulary.
void cutOutputs(transformer::ModelOp model, Sample &sample);

// Makes most rows of the sample's weights zeros, so that about `most` numbers
// remain. Rows are kept in runs, from the first on, so that some heads are
// whole and what is multiplied element by element meets. Every shape stays.
void thin(transformer::ModelOp model, int64_t most, Sample &sample);

} // namespace mille::rewrite
