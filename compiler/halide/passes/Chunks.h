// Long sums in pieces, so that what is read for each stays in L2.
// Private to this room.
#pragma once
#include "Halide.h"

namespace mille {

// The loop nest of a matmul, by the names that its pipeline gave.
struct Chunks {
  std::string out, product;
  std::string panel; // the loop over panels
  int steps;         // K in a chunk; divides K
};

// To be added to a pipeline with add_custom_lowering_pass, which owns it.
Halide::Internal::IRMutator *chunkSums(Chunks what);

} // namespace mille
