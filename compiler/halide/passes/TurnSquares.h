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

// Has squares made at `at`, in L1: a row is a vector of `across`, and `along`
// counts rows.
void placeSquares(Halide::Func square, const Halide::LoopLevel &at,
                  const Halide::Var &across, const Halide::Var &along,
                  int lanes);

// A pass over the lowered program.
Halide::Internal::IRMutator *turnSquares(Squares what);

} // namespace mille
