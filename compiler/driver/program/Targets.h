// Chooses the targets of a package. Must not ask the machine: callers pass its
// features.
#pragma once
#include "compiler/kernels/Targets.h"

#include <string>
#include <vector>

namespace mille {

// The values of --dtype; the last ones store weights in blocks.
inline constexpr llvm::StringRef dtypes[] = {"f32",  "bf16", "int8", "q8_0",
                                             "q6_k", "q5_k", "q5_1", "q5_0",
                                             "q4_k", "q4_1", "q4_0", "stored"};
bool isOfBlocks(llvm::StringRef dtype);

// The targets, best first. If nobody asked for an instruction set by name, and
// a machine with these `features` (MILLE_CPU_*) has no instruction for `dtype`,
// the result is empty and `why` gives the reason: emulation would be slow.
std::vector<Target> chooseTargets(uint64_t features,
                                  const std::vector<std::string> &targets,
                                  const std::string &dtype, std::string &why);

// All targets that the words of `targets` can mean on any machine: "host" and
// an empty list mean every CPU.
std::vector<Target> targetsMeant(const std::vector<std::string> &targets);

} // namespace mille
