// Makes objects for CPUs from Halide's bitcode. Halide has no target for some
// CPUs, whose bitcode is for a newer CPU, and does not know all instructions.
// Must not be included outside of compiler/halide.
#pragma once
#include <string>

namespace mille {

// An object for `cpu`, which is LLVM's name. False, with a sentence in `error`,
// where the bitcode cannot be read, or calls by name an instruction that the
// CPU lacks. Thread-safe.
bool makeMachineCode(const std::string &bitcode, const std::string &cpu,
                     std::string &object, std::string &error);

} // namespace mille
