// Matrix products for at most 64 rows, or some blocks of 64: bound by reading
// the weights once. Must not choose tiles.
#pragma once
#include "compiler/kernels/Spec.h"
#include "compiler/nvvm/Kernel.h"

namespace mille::nvvm {

// A block of threads adds up all of K for its columns, in the order of the
// tiles of many rows: so a row has the same bits in every run.
struct FewRowsTile {
  unsigned columns = 64; // a multiple of 8
};

constexpr unsigned fewRowsOfTile = 64;

std::string wordsOf(const MatmulSpec &matmul, const FewRowsTile &tile);

Kernel writeFewRows(mlir::MLIRContext &context, const KernelSpec &spec,
                    const FewRowsTile &tile, const std::string &entry);

} // namespace mille::nvvm
