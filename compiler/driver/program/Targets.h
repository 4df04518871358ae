// Chooses the targets of a package. Must not ask the machine: callers pass its
// features.
#pragma once
#include "compiler/kernels/Targets.h"
#include "dialects/transformer/Dtype.h"

#include <string>
#include <vector>

namespace mille {

// The targets, best first. If nobody asked for an instruction set by name, and
// a machine with these `features` (MILLE_CPU_*) has no instruction for a type
// of `dtype`, the result is empty and `why` gives the reason, and a line of
// help: emulation would be slow.
std::vector<Target> chooseTargets(uint64_t features,
                                  const std::vector<std::string> &targets,
                                  const DtypeChoice &dtype, std::string &why);

// Whether the type has kernels for all of these targets; else `why` is a
// sentence, and a line of help.
bool targetsFit(const DtypeChoice &dtype,
                const std::vector<std::string> &targets, std::string &why);

// All targets that the words of `targets` can mean on any machine: "host" and
// an empty list mean every CPU.
std::vector<Target> targetsMeant(const std::vector<std::string> &targets);

} // namespace mille
