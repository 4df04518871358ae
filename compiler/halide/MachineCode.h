// Objects for CPUs that Halide has no target for, from the bitcode that it makes for
// a newer one. Private to this room.
#pragma once
#include <string>

namespace mille {

// `cpu` as LLVM names it. False, with a sentence in `error`, where the bitcode cannot
// be read or calls an instruction that the CPU lacks by name. Thread-safe.
bool makeMachineCode(const std::string &bitcode, const std::string &cpu,
                     std::string &object, std::string &error);

} // namespace mille
