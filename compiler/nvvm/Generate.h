// The room's door: kernels for NVIDIA's Hopper (compute capability 9.0).
// Must not know what the model is; sees one kernel at a time.
#pragma once
#include "compiler/kernels/Generator.h"

namespace mille {

// For the target `cuda`. What it declines, the next generator of the list
// makes. Objects are kept on disk (Cache.h).
const Generator &nvvmGenerator();

namespace nvvm {
struct Kernel;

// The kernel before it is code, as the emulator runs it. False, with a sentence
// in `problem`, where the generator declines it.
bool writeKernel(mlir::MLIRContext &context, const KernelRequest &request,
                 Kernel &kernel, std::string &problem);
} // namespace nvvm

} // namespace mille
