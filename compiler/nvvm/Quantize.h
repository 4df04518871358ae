// Rounds rows to bytes: one read, one write.
#pragma once
#include "compiler/kernels/Spec.h"
#include "compiler/nvvm/Kernel.h"

namespace mille::nvvm {

// Empty if the generator makes it, else the reason.
std::string whyNotQuantize(const KernelSpec &spec);
std::string wordsOfQuantize(const KernelSpec &spec);
Kernel writeQuantize(mlir::MLIRContext &context, const KernelSpec &spec,
                     const std::string &entry);

} // namespace mille::nvvm
