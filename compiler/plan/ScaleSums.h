// Scales of columns in a matmul's epilogue.
// Must not choose the scales.
#pragma once
#include "dialects/kernel/Kernel.h"

namespace mille::plan {

// Multiplies each sum of the region by its column's scale. A bias is added in
// the same rounding.
void scaleSums(kernel::MatmulOp op, mlir::ValueRange columns);

} // namespace mille::plan
