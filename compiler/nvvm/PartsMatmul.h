// Matrix products of f32 on tensor cores, each number as three parts of bf16
// (Parts.h).
// Must not choose tiles.
#pragma once
#include "compiler/kernels/Spec.h"
#include "compiler/nvvm/Kernel.h"

namespace mille::nvvm {

struct PartsTile {
  unsigned columns = 128; // of the weight: 32, 64 or 128
  unsigned groups = 2;    // that multiply, of 64 rows each

  // One group, which stores its out from registers.
  bool few() const { return groups == 1; }
  unsigned rows() const { return 64 * groups; }
};

Kernel writePartsMatmul(mlir::MLIRContext &context, const KernelSpec &spec,
                        const PartsTile &tile, const std::string &entry);

// Whether shared memory has room.
bool fitsParts(const KernelSpec &spec, const PartsTile &tile);

} // namespace mille::nvvm
