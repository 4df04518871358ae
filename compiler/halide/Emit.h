// Kernel spec -> object, by Halide. Must not know of MLIR.
#pragma once
#include "compiler/KernelInfo.h"
#include "compiler/halide/Spec.h"

#include <string>

namespace mille {

struct EmitOptions {
  std::string target; // Halide target string
  std::string entry; // name of the function; entry + "_argv" is what hosts call
  std::string unique; // part of every internal name, different for each kernel
  bool few = false;   // schedule for few rows
  std::string *statement = nullptr; // also gives Halide's lowered program
  unsigned rank = 0;                // of a matmul's tile (Tiles.h)
  std::string cpu =
      "";            // of Isa: whose machine code LLVM makes; empty: a device
  bool bf16 = false; // the CPU has bf16's instructions
  bool tileRegisters = false; // the CPU has these
};

// What follows from an instruction set: target, cpu, bf16 and tile registers.
EmitOptions emitOptionsOf(const Isa &isa);

// False, with a sentence in `error`, where Halide refuses. Thread-safe.
bool emitKernel(const KernelSpec &spec, const EmitOptions &options,
                std::string &object, std::string &error);

// The version of Halide: part of a kernel's identity.
std::string halideVersion();

// Heap a kernel's temporaries take for `keys` keys, in bytes: base + keys *
// per.
void scratchOf(const KernelSpec &spec, uint64_t &base, uint64_t &perKey);
// Keys that attention adds up together, on any machine; 0: one by one, or none.
uint32_t keysTogether(const KernelSpec &spec);

} // namespace mille
