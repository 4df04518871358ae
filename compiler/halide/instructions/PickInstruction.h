// One of sixteen numbers for each lane, by a permutation of floats (AVX-512) or
// of bytes. A polynomial whose coefficients are picked by bits of the argument
// needs few multiplications, and multipliers are what a software-pipelined
// matmul has least of.
// Must not be included outside of compiler/halide.
#pragma once
#include "Halide.h"

#include <array>

namespace llvm {
class Module;
}

namespace mille {

using Sixteen = std::array<float, 16>;
using SixteenBytes = std::array<uint8_t, 16>;

// numbers[index % 16]; `index` is i32. For machines with Machine::picks.
Halide::Expr pickOf(const Sixteen &numbers, const Halide::Expr &index);

// bytes[index]; `index` is u8 and below 16. For any machine.
Halide::Expr pickOf(const SixteenBytes &bytes, const Halide::Expr &index);

// Replaces the placeholder calls in Halide's module by instructions; `wide`
// says whether the machine permutes 64 bytes by one.
void pickByInstruction(llvm::Module &module, bool wide);

} // namespace mille
