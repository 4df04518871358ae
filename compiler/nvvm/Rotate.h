// RoPE of rows as a kernel of its own.
#pragma once
#include "compiler/kernels/Spec.h"
#include "compiler/nvvm/Kernel.h"

namespace mille::nvvm {

// Empty if the generator makes it, else the reason.
std::string whyNotRotate(const KernelSpec &spec);
Kernel writeRotate(mlir::MLIRContext &context, const KernelSpec &spec,
                   const std::string &entry);

} // namespace mille::nvvm
