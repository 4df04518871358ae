// One of sixteen numbers for each lane, by AVX-512's permutation: a polynomial
// whose coefficients are picked by the argument's last bits needs few
// multiplications, which is what a core that also adds products has least of.
// Private to this room.
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

// Makes the calls that stand for it in Halide's module instructions.
void pickByInstruction(llvm::Module &module);

} // namespace mille
