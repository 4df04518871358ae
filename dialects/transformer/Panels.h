// The layout of a linear's weight in panels of output columns. Only this file
// derives the shape of a packed weight. Must not move numbers.
#pragma once
#include "dialects/transformer/Encoding.h"

namespace mille {

// Panels of numbers. `width` numbers of one step of K lie side by side, first
// those of one accumulator, then of the other; `group` steps of K share 32
// bits.
struct Panels {
  int64_t width, accumulators = 1, group = 1;

  // The output columns of a panel.
  int64_t columns() const { return width / accumulators; }
  // The packed shape of a weight [accumulators * N, K] is [panels, ceil(K /
  // group), width * group]; that of a stack of E weights begins with E. `width`
  // and the number of rows are multiples of `accumulators`.
  llvm::SmallVector<int64_t> shapeOf(llvm::ArrayRef<int64_t> weight) const;
};

// Panels of blocks, which all have the same width.
struct BlockPanels {
  Encoding encoding;
  int64_t accumulators = 1;

  static constexpr int64_t columns = BlockForm::rows;
  // The packed shape in bytes: [E, panels, K / numbers that share steps, their
  // bytes].
  llvm::SmallVector<int64_t> shapeOf(llvm::ArrayRef<int64_t> weight) const;
};

} // namespace mille
