// Cuts loops over layers into loops over a few of them, which the backward pass
// computes again before it goes through them. Must not know what a layer does.
#pragma once
#include "dialects/transformer/Transformer.h"
#include "llvm/ADT/SmallVector.h"

namespace mille::differentiate {

// Loops over at most `length` layers, in place of each of the block. Gives
// those that others of the same stack follow: the last one's backward pass
// comes at once, so that it needs not be computed again.
llvm::SmallVector<transformer::LayersOp> cutLayers(mlir::Block &entry,
                                                   int64_t length);

} // namespace mille::differentiate
