// Squares of numbers are turned by shuffles of whole vectors.
// Must not be included outside of compiler/halide.
#pragma once
#include "Halide.h"

#include <string>

namespace mille {

// A square's rows lie one after the other in the memory `square`, `lanes`
// numbers each; the loop over the variable `column` stores its columns to
// `out`.
struct Squares {
  std::string square, out, column;
  int lanes;
};

// A pass over the lowered program.
Halide::Internal::IRMutator *turnSquares(Squares what);

} // namespace mille
