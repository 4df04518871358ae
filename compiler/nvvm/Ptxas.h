// NVIDIA's assembler, which its licence forbids to ship: found on this machine,
// run, and its messages read. Must not know what a kernel computes.
#pragma once
#include <string>

namespace mille::nvvm {

// $MILLE_PTXAS, or ptxas on PATH or in CUDA's usual folder. Empty where there
// is none. If $MILLE_PTXAS names no file, that is no ptxas either.
std::string ptxasPath();
// A line with its version; empty where there is none.
std::string ptxasVersion();

// What ptxas said of a kernel. Its exit status is 0 where it serialised
// products (C75xx) or spilled.
struct PtxasFacts {
  unsigned registers = 0;
  unsigned spillBytes = 0;
  std::string warnings; // C75xx, a line each
};

// False, with a sentence in `problem` and what the user can do in `help`, where
// ptxas fails, is killed or is too old, or its files cannot be written. Not by
// relocatable code (ptxas -c, nvJitLink), which ignores setmaxnreg.
bool assemble(const std::string &ptx, std::string &cubin, PtxasFacts &facts,
              std::string &problem, std::string &help);

} // namespace mille::nvvm
