// What `forward` of a kernel program takes and gives, read off its attributes.
// Changes nothing.
#pragma once
#include "dialects/kernel/Kernel.h"

namespace mille::kernel {

// One input or output; mirrors mille_tensor_info of runtime/abi.h.
struct TensorInfo {
  std::string name;
  bool isFloat = false;                // f32, else i32
  llvm::SmallVector<int64_t, 4> shape; // >= 0 fixed, -1 batch, -2 tokens
  std::string fallback;                // "", ones, zeros, positions, none
  int64_t below = 0;                   // exclusive upper bound of ids, 0: none

  // "[batch, tokens, 768]"
  std::string shapeText() const;
};

struct Signature {
  std::vector<TensorInfo> inputs, outputs;
  int64_t maxTokens = 0; // of learned positions, 0: any
};

// The entry of a model or module, or null.
mlir::func::FuncOp forwardOf(mlir::Operation *model);

// Works on tensors (results are outputs) and, after planning, on memrefs (the
// last arguments are). Entries that `kernel.keep` writes come after the
// results.
Signature signatureOf(mlir::func::FuncOp forward);

} // namespace mille::kernel
