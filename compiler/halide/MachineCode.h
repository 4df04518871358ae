// Objects from the bitcode that Halide makes: for CPUs that it has no target for, of a
// newer one's, and with instructions that it does not know. Private to this room.
#pragma once
#include <string>

namespace mille {

// `cpu` as LLVM names it. False, with a sentence in `error`, where the bitcode cannot
// be read or calls an instruction that the CPU lacks by name. Thread-safe.
bool makeMachineCode(const std::string &bitcode, const std::string &cpu,
                     std::string &object, std::string &error);

} // namespace mille
