// Reads a kernel spec out of a kernel op on memrefs.
// Must not know who makes the kernel.
#pragma once
#include "compiler/kernels/Spec.h"
#include "mlir/IR/Operation.h"

namespace mille {

// Emits an error at the op and fails where the op is no kernel
// (kernel::isGenerated), is not on memrefs, or holds what no kernel can do.
mlir::LogicalResult readSpec(mlir::Operation *op, KernelSpec &spec);

} // namespace mille
