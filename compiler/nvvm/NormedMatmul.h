// Matrix products whose rows are normed in the same kernel: the blocks of a
// cluster have whole rows, and exchange sums of them.
#pragma once
#include "compiler/kernels/Spec.h"
#include "compiler/nvvm/Kernel.h"

namespace mille::nvvm {

struct NormedTile {
  unsigned columns = 192; // of a block
  unsigned cluster = 4;   // blocks, with whole rows together
  unsigned groups = 2;    // of 64 rows

  unsigned rows() const { return 64 * groups; }
};

// Of a product with joined rows: empty, or why no such kernel is made.
std::string whyNotNormed(const KernelSpec &spec);
NormedTile normedTile(const KernelSpec &spec, bool few);
// The most rows for which the tile of few rows is faster.
unsigned normedFewRows(const KernelSpec &spec);
std::string wordsOf(const NormedTile &tile);

Kernel writeNormedMatmul(mlir::MLIRContext &context, const KernelSpec &spec,
                         const NormedTile &tile, const std::string &entry);

} // namespace mille::nvvm
