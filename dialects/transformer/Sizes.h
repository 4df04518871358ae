// Checks of sizes that ops of both dialects have in common. Must not overflow;
// must be used by verifiers only.
#pragma once
#include "mlir/IR/Operation.h"

namespace mille::transformer {

struct PatchGrid {
  int64_t tokens;   // prefix + rows of patches * columns of patches
  int64_t channels; // c * kh * kw
};

// The grid of patches of an image [c, h, w], all > 0. Fails with an error if
// the padded image cannot hold a kernel, or if a size overflows. (C2, C3 of
// `patches`.)
mlir::FailureOr<PatchGrid>
verifyPatches(mlir::Operation *op, llvm::ArrayRef<int64_t> image,
              llvm::ArrayRef<int64_t> kernel, llvm::ArrayRef<int64_t> stride,
              llvm::ArrayRef<int64_t> padding, int64_t prefix);

// Fails with an error unless k of `entries` experts (which may be dynamic) can
// be taken from `topGroups` of `groups` groups. (C1 of `route`.)
mlir::LogicalResult verifyChoice(mlir::Operation *op, int64_t entries,
                                 int64_t k, int64_t groups, int64_t topGroups);

} // namespace mille::transformer
