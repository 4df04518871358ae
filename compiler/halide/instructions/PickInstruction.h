// One of sixteen numbers for each lane, by AVX-512's permutation. A polynomial
// whose coefficients are picked by bits of the argument needs few
// multiplications, and multipliers are what a software-pipelined matmul has
// least of.
// Must not be included outside of compiler/halide.
#pragma once
#include "Halide.h"

#include <array>

namespace llvm {
class Module;
}

namespace mille {

using Sixteen = std::array<float, 16>;

// numbers[index % 16]; `index` is i32. For machines with Machine::picks.
Halide::Expr pickOf(const Sixteen &numbers, const Halide::Expr &index);

// Replaces the placeholder calls in Halide's module by instructions.
void pickByInstruction(llvm::Module &module);

} // namespace mille
