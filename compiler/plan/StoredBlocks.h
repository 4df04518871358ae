// Which blocks a weight is stored in, and which of those that kernels read hold
// its numbers. Must not read numbers.
#pragma once
#include "dialects/kernel/Kernel.h"
#include "dialects/transformer/Encoding.h"

#include <optional>
#include <string>

namespace mille::plan {

struct StoredBlocks {
  // The smallest that kernels read and that holds what is stored; none where
  // that is no blocks.
  std::optional<Encoding> blocks;
  // Why there are none, or why the numbers are rounded once more; or empty.
  std::string why;
};

// Blocks of `wished`, or, where rows of `input` are no whole blocks of its
// length, shorter ones of no fewer bits.
StoredBlocks wholeBlocks(Encoding wished, mlir::Type input);

// Of a weight that several layers have, what holds those of all of them.
StoredBlocks storedBlocks(kernel::WeightOp weight);

} // namespace mille::plan
