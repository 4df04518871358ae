// Finds the blocks that a weight is stored in, and the blocks that kernels can
// read and that hold its numbers. Must not read numbers.
#pragma once
#include "dialects/kernel/Kernel.h"
#include "dialects/transformer/Encoding.h"

#include <optional>
#include <string>

namespace mille::plan {

struct StoredBlocks {
  // The smallest blocks that kernels read and that hold the stored numbers;
  // none if the weight is not stored in blocks.
  std::optional<Encoding> blocks;
  // Why there are none, or why the numbers are rounded once more; or empty.
  std::string why;
};

// Returns `wished`, or, if rows of `input` are not a whole number of its
// blocks, shorter blocks with at least as many bits.
StoredBlocks wholeBlocks(Encoding wished, mlir::Type input);

// If several layers have the weight, the result holds the numbers of all
// layers.
StoredBlocks storedBlocks(kernel::WeightOp weight);

} // namespace mille::plan
