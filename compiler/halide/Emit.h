// Makes an object of a kernel spec, by Halide. Must not know MLIR.
#pragma once
#include "compiler/halide/CpuTraits.h"
#include "compiler/kernels/KernelInfo.h"
#include "compiler/kernels/Spec.h"
#include "compiler/kernels/Targets.h"

#include <string>

namespace mille {

struct EmitOptions {
  std::string target; // Halide target string
  std::string entry; // name of the function; entry + "_argv" is what hosts call
  std::string unique; // part of every internal name, different for each kernel
  RowClass rows = RowClass::many;
  bool lowered = false; // gives Halide's lowered program, no object
  unsigned rank = 0;    // of a matmul's tile (Tiles.h)
  std::string cpu;      // for which LLVM makes code; empty: a device
  bool bf16 = false;    // the CPU has bf16's instructions
  bool f16 = true;      // the target has the type
  CpuTraits traits;     // the CPU's
};

// The options that follow from a target. `target` is empty where Halide does
// not serve it, and a newer CPU's where Halide has no name for it.
EmitOptions emitOptionsOf(const Target &target);

// False, with a sentence in `error`, where Halide refuses. Thread-safe.
bool emitKernel(const KernelSpec &spec, const EmitOptions &options,
                std::string &object, std::string &error);

// The version of Halide: part of a kernel's identity.
std::string halideVersion();

// The bytes of heap for a kernel's temporaries: base + keys * perKey.
void scratchOf(const KernelSpec &spec, uint64_t &base, uint64_t &perKey);
// The most rows of a sequence of which attention gives parts, and the keys of a
// part; 0: it does not.
int fewRowsOf(const AttentionSpec &attention);
int keysOfPart(const AttentionSpec &attention);
// How many keys attention adds up together on some machine; 0: no keys, or one
// by one.
uint32_t keysTogether(const KernelSpec &spec);

} // namespace mille
