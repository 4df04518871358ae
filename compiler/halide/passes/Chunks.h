// Long sums in pieces of K, so that the operands of a piece stay in L2.
// Must not be included outside of compiler/halide.
#pragma once
#include "Halide.h"

namespace mille {

// The loop nest of a matmul, by the names that its pipeline gave to its parts.
struct Chunks {
  std::string out, product;
  std::string panel; // the loop over panels
  int steps;         // steps of K in a chunk; divides all steps
};

// The pass, for add_custom_lowering_pass, which owns it.
Halide::Internal::IRMutator *chunkSums(Chunks what);

} // namespace mille
