// Roundings to bf16 by the CPU's own instruction, which Halide does not know.
// Private to this room.
#pragma once

namespace llvm {
class Module;
}

namespace mille {

// Makes each rounding of Elements.cpp, in the form that LLVM's optimizer leaves
// it, a conversion. What it does not find stays as it is: the same number in
// eight instructions, but of numbers below 2^-126, which the conversion takes
// as 0.
void roundByInstruction(llvm::Module &module);

} // namespace mille
