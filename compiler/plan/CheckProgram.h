// What a kernel program must keep to be planned. Must not change it.
#pragma once
#include "dialects/kernel/Signature.h"

namespace mille::plan {

// Entries of one output have one shape.
mlir::LogicalResult checkKept(mlir::func::FuncOp forward,
                              const kernel::Signature &signature);

// Kernels count columns, and the numbers of what they read whole, in 32 bits;
// so they do the numbers of a task's rows, of which there are some 192 or more.
mlir::LogicalResult checkExtents(mlir::func::FuncOp forward);

} // namespace mille::plan
