// Matrix products for at most 64 rows, or some blocks of 64: bound by reading
// the weights once. Must not choose tiles.
#pragma once
#include "compiler/kernels/Spec.h"
#include "compiler/nvvm/Kernel.h"

namespace mille::nvvm {

// A cluster of blocks shares K, and each block adds up the columns that it
// owns, in the order of ranks: the same bits every time, no second kernel.
struct FewRowsTile {
  unsigned cluster = 2; // 1, 2, 4 or 8
  unsigned stages = 4;
  unsigned columns = 64; // 64, or 32 in a cluster of one

  bool operator==(const FewRowsTile &other) const {
    return cluster == other.cluster && stages == other.stages &&
           columns == other.columns;
  }
};

constexpr unsigned fewRowsOfTile = 64;

unsigned fewRowsSharedBytes(const MatmulSpec &matmul, const FewRowsTile &tile);

Kernel writeFewRows(mlir::MLIRContext &context, const KernelSpec &spec,
                    const FewRowsTile &tile, const std::string &entry);

} // namespace mille::nvvm
