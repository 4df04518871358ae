// Functions of 32-bit words that are read as pairs of 16-bit elements: words are
// made by whole vectors, without a shuffle. Private to this room.
#pragma once
#include "Halide.h"

namespace mille {

// One and the same memory: `pairs` is to be computed right after `words`, and all
// dimensions of both have the same bounds.
struct Words {
  Halide::Func words; // (x, ...), the first element of a pair in the low half
  Halide::Func pairs; // (half, x, ...), of 16 bits
};

// Defines `pairs`, elements of `type`, by `words`, which is defined over `arguments`.
void readAsPairs(Words &w, Halide::Type type, const Halide::Var &half,
                 const std::vector<Halide::Var> &arguments);

// To be added to a pipeline with add_custom_lowering_pass, which owns it: reads of
// pairs become reads of words, and what would copy them goes.
Halide::Internal::IRMutator *shareWords(const std::vector<Words> &all);

} // namespace mille
