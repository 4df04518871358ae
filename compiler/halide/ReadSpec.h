// Reads a kernel spec out of a kernel op on memrefs.
// Must not know of Halide.
#pragma once
#include "compiler/halide/Spec.h"
#include "mlir/IR/Operation.h"

namespace mille {

// Emits an error at the op and fails where the op is none of matmul, rows and
// attention, is not on memrefs, or holds what no kernel can do.
mlir::LogicalResult readSpec(mlir::Operation *op, KernelSpec &spec);

} // namespace mille
