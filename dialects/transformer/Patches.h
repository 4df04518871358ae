// How many patches an image has, and how large they are, with arithmetic that
// does not overflow. For the verifiers of both dialects; changes nothing.
#pragma once
#include "mlir/IR/Operation.h"

namespace mille::transformer {

struct PatchGrid {
  int64_t tokens;   // prefix + rows of patches * columns of patches
  int64_t channels; // c * kh * kw
};

// The grid of an image [c, h, w], or failure after an error: an extent <= 0, a
// kernel that the padded image cannot hold, a size beyond any memory.
mlir::FailureOr<PatchGrid>
verifyPatches(mlir::Operation *op, llvm::ArrayRef<int64_t> image,
              llvm::ArrayRef<int64_t> kernel, llvm::ArrayRef<int64_t> stride,
              llvm::ArrayRef<int64_t> padding, int64_t prefix);

} // namespace mille::transformer
