// Sizes that ops of both dialects check alike, with arithmetic that does not
// overflow. For verifiers; changes nothing.
#pragma once
#include "mlir/IR/Operation.h"

namespace mille::transformer {

struct PatchGrid {
  int64_t tokens;   // prefix + rows of patches * columns of patches
  int64_t channels; // c * kh * kw
};

// The grid of an image [c, h, w], all > 0, or failure after an error: a kernel
// that the padded image cannot hold, a size beyond any memory. (C2, C3 of
// `patches`.)
mlir::FailureOr<PatchGrid>
verifyPatches(mlir::Operation *op, llvm::ArrayRef<int64_t> image,
              llvm::ArrayRef<int64_t> kernel, llvm::ArrayRef<int64_t> stride,
              llvm::ArrayRef<int64_t> padding, int64_t prefix);

// Error unless k of `entries` experts (dynamic: unknown) can be taken from
// `topGroups` of `groups` groups. (C1 of `route`.)
mlir::LogicalResult verifyChoice(mlir::Operation *op, int64_t entries,
                                 int64_t k, int64_t groups, int64_t topGroups);

} // namespace mille::transformer
