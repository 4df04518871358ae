// Reads a kernel spec from a kernel op on memrefs.
// Must not know which generator makes the kernel.
#pragma once
#include "compiler/kernels/Spec.h"
#include "mlir/IR/Operation.h"

namespace mille {

// Fails with an error at the op if it is not a kernel (kernel::isGenerated), is
// not on memrefs, or holds something that no kernel supports.
mlir::LogicalResult readSpec(mlir::Operation *op, KernelSpec &spec);

} // namespace mille
