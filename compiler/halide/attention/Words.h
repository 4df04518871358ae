// Functions of 32-bit words that are read as their parts, two or four elements:
// whole vectors make the words, without a shuffle.
// Must not be included outside of compiler/halide.
#pragma once
#include "Halide.h"

namespace mille {

// Two functions in one memory: `parts` must be computed right after `words`,
// and all dimensions of both must have the same bounds.
struct Words {
  Halide::Func words; // (x, ...), the first element in the lowest bits
  Halide::Func parts; // (part, x, ...), of 16 or 8 bits
};

// Defines `parts`, elements of `type`, from `words`, a function of `arguments`.
void readAsParts(Words &w, Halide::Type type, const Halide::Var &part,
                 const std::vector<Halide::Var> &arguments);

// A pass for add_custom_lowering_pass, which owns it: it turns reads of parts
// into reads of words, and removes the copies.
Halide::Internal::IRMutator *shareWords(const std::vector<Words> &all);

} // namespace mille
