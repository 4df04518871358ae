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

} // namespace mille::transformer
