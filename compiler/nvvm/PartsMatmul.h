// Matrix products of f32 on tensor cores, each number as three parts of bf16.
// Must not choose tiles.
#pragma once
#include "compiler/kernels/Spec.h"
#include "compiler/nvvm/Kernel.h"

namespace mille::nvvm {

struct PartsTile {
  unsigned columns = 128; // of the weight: 32, 64 or 128
  unsigned groups = 2;    // that multiply, of 64 rows each

  // One group stores its out from registers, and its blocks share a unit.
  bool few() const { return groups == 1; }
  unsigned rows() const { return 64 * groups; }
};

// f32 x = x1 + x2 + x3 exactly, where x1 is x rounded to bf16, x2 what is left
// rounded again, x3 the rest: 24 bits are 8 + 8 + 8. Of the nine products of
// parts x2 y3, x3 y2 and x3 y3 are left out, at most 2^-23 |x y|; the others
// are exact in f32. They are added for 32 values of K at a time, the small ones
// first, in the accumulators of the tensor cores, which cut numbers off where
// f32 rounds; such sums are added in f32 registers.
//
// With u = 2^-24 an element's error is at most (K / 32 + 70) u sum |x y|: below
// the K u sum |x y| of any sum in f32 from K = 73 on. An infinity, or a number
// that bf16 rounds to one, gives NaN.
Kernel writePartsMatmul(mlir::MLIRContext &context, const KernelSpec &spec,
                        const PartsTile &tile, const std::string &entry);

// Whether shared memory has room.
bool fitsParts(const KernelSpec &spec, const PartsTile &tile);

} // namespace mille::nvvm
