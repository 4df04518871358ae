// How a linear's weight lies in panels of output columns: the one place that
// derives a packed weight's shape. Must not move numbers.
#pragma once
#include "dialects/transformer/Encoding.h"

namespace mille {

// Panels of numbers. `width` numbers of one step of K lie side by side, those
// of each accumulator after one another; `group` steps of K share 32 bits.
struct Panels {
  int64_t width, accumulators = 1, group = 1;

  // Output columns of one panel.
  int64_t columns() const { return width / accumulators; }
  // Of a weight [accumulators * N, K], or of a stack [E, ...] of such weights:
  // [E, panels, ceil(K / group), width * group]. `width` and the rows are
  // multiples of `accumulators`.
  llvm::SmallVector<int64_t> shapeOf(llvm::ArrayRef<int64_t> weight) const;
};

// Panels of blocks have one width.
struct BlockPanels {
  Encoding encoding;
  int64_t accumulators = 1;

  static constexpr int64_t columns = BlockForm::rows;
  // The same in bytes: [E, panels, K / numbers that share steps, their bytes].
  llvm::SmallVector<int64_t> shapeOf(llvm::ArrayRef<int64_t> weight) const;
};

} // namespace mille
