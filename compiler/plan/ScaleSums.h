// Scales of columns and rows in a matmul's epilogue.
// Must not choose the scales.
#pragma once
#include "dialects/kernel/Kernel.h"

namespace mille::plan {

// Multiplies each sum of the region by its column's scale. A bias is added in
// the same rounding.
void scaleSums(kernel::MatmulOp op, mlir::ValueRange columns);

// Multiplies every sum of the region by its row's scale, before its column's.
void scaleRows(kernel::MatmulOp op, mlir::Value rows);

} // namespace mille::plan
