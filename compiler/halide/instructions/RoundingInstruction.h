// Rounds to bf16 by the CPU's instruction, which Halide does not know.
// Must not be included outside of compiler/halide.
#pragma once

namespace llvm {
class Module;
}

namespace mille {

// Replaces each rounding of Elements.cpp, in the form that LLVM's optimizer
// gives it, by a conversion. A rounding that it does not find stays: eight
// instructions with the same result, except for numbers below 2^-126, which the
// conversion treats as 0.
void roundByInstruction(llvm::Module &module);

} // namespace mille
