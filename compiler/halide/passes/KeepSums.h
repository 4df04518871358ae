// Keeps the sums of an inner loop in registers, where the loop adds to its out.
// Must not be included outside of compiler/halide.
#pragma once
#include "Halide.h"

#include <string>

namespace mille {

// The names of the function that sums are stored to, and of the variable of
// the loop that adds to them. `whole` says that the loop may add to all sums of
// its body, though the body skips some: what these would add can be read, and
// they are not stored. `ahead` is how many numbers lie from a place to that
// which the next run of the loop adds to, whose lines are prefetched; 0: none.
struct KeptSums {
  std::string out, loop;
  bool whole = false;
  int ahead = 0;
};

// A pass over the lowered program. Before the loop it loads the places of the
// out that the loop stores to, and after it stores them.
Halide::Internal::IRMutator *keepSums(KeptSums what);

} // namespace mille
