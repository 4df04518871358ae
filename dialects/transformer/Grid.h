// Images whose sides are sizes of the run: their grid of patches, and the
// names of their sizes. Must not hold the sizes' numbers.
#pragma once
#include "dialects/transformer/Transformer.h"

namespace mille::transformer {

// The grid of the input that `pixels` is, or null: its sides are numbers, or it
// is no input.
GridAttr gridOf(mlir::Value pixels);

// The name of a side of such an input: axis 0 is the height.
llvm::StringRef sideOf(mlir::BlockArgument pixels, unsigned axis);

// The name of the tokens of the result of move_patches or window_segments; ""
// for other ops.
llvm::StringRef movedTokens(mlir::Operation *op);
// The name of the tokens that move_patches reads.
llvm::StringRef readTokens(MovePatchesOp op);

} // namespace mille::transformer
