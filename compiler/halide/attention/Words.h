// Functions of 32-bit words that are read as their parts, two or four elements:
// words are made by whole vectors, without a shuffle. Private to this room.
#pragma once
#include "Halide.h"

namespace mille {

// One and the same memory: `parts` is to be computed right after `words`, and
// all dimensions of both have the same bounds.
struct Words {
  Halide::Func words; // (x, ...), the first element in the lowest bits
  Halide::Func parts; // (part, x, ...), of 16 or 8 bits
};

// Defines `parts`, elements of `type`, by `words`, which is defined over
// `arguments`.
void readAsParts(Words &w, Halide::Type type, const Halide::Var &part,
                 const std::vector<Halide::Var> &arguments);

// To be added to a pipeline with add_custom_lowering_pass, which owns it: reads
// of parts become reads of words, and what would copy them goes.
Halide::Internal::IRMutator *shareWords(const std::vector<Words> &all);

} // namespace mille
