// A product with joined rows in two launches: the product, then its rows' norm
// and what follows. Many rows take less time so; the bits are those of
// NormedMatmul, which few rows keep.
#pragma once
#include "compiler/kernels/Spec.h"
#include "compiler/nvvm/Kernel.h"

namespace mille::nvvm {

struct MatmulTile;

// The product alone, whose sums go to an out of the op that holds f32: its own,
// or one that the second launch overwrites. Nothing where there is no such out,
// or where joined rows read more by element than what the kernel computes.
std::optional<KernelSpec> productBehindNorm(const KernelSpec &spec);
// Cycles of the second launch for so many rows.
double normCycles(const KernelSpec &spec, int64_t rows);

// Both kernels.
Kernel writeProductThenNorm(mlir::MLIRContext &context, const KernelSpec &spec,
                            const MatmulTile &tile, const std::string &entry);

} // namespace mille::nvvm
