// Objects for CPUs, from the bitcode that Halide makes: it has no target for
// some, where the bitcode is for a newer one, and not all of the instructions.
// Private to this room.
#pragma once
#include <string>

namespace mille {

// `cpu` as LLVM names it. False, with a sentence in `error`, where the bitcode
// cannot be read or calls an instruction that the CPU lacks by name.
// Thread-safe.
bool makeMachineCode(const std::string &bitcode, const std::string &cpu,
                     std::string &object, std::string &error);

} // namespace mille
