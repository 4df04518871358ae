// Which targets a package is generated for. Must not ask the machine:
// its features are told.
#pragma once
#include "compiler/kernels/Targets.h"

#include <string>
#include <vector>

namespace mille {

// What --dtype may be; the last ones are blocks of weights.
inline constexpr llvm::StringRef dtypes[] = {"f32",  "bf16", "int8", "q8_0",
                                             "q6_k", "q5_k", "q5_1", "q5_0",
                                             "q4_k", "q4_1", "q4_0", "stored"};
bool isOfBlocks(llvm::StringRef dtype);

// Best first; empty, with a sentence in `why`, where a machine with these
// `features` (MILLE_CPU_*) lacks what `dtype` computes with and nobody asked
// for an instruction set by name: there it would be emulated.
std::vector<Target> chooseTargets(uint64_t features,
                                  const std::vector<std::string> &targets,
                                  const std::string &dtype, std::string &why);

// Those that `targets` may come to mean on some machine: "host", and none, are
// any CPU.
std::vector<Target> targetsMeant(const std::vector<std::string> &targets);

} // namespace mille
