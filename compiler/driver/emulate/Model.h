// Runs a model in the interpreter with its Hopper kernels in the emulator: each
// kernel gets what the kernels before it have computed.
#pragma once
#include "compiler/Status.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace mille::emulated {

struct ModelOptions {
  std::string folder;         // of the model's files
  std::string inputs;         // a safetensors file
  uint64_t seed = 1;          // of the first schedule; each kernel has another
  std::string dtype = "bf16"; // what its matmuls read
  std::string entry;          // empty: the first
};

// `module` is a model after the stage `fuse`; its types are narrowed here.
// Compares each kernel with its meaning on the same numbers, and the outputs
// with those of the interpreter alone, of these types and of f32. What states
// hold is an input and an output of an entry that remembers. Status::bug where
// one is off.
Status runModel(mlir::ModuleOp module, const ModelOptions &options,
                llvm::raw_ostream &out);

} // namespace mille::emulated
