// The part of the pass `narrow-types` for programs that train.
// Must not be used for weights that plan packs before any run.
#pragma once
#include "dialects/kernel/Kernel.h"

namespace mille::plan {

// Whether a program packs its weights as it runs, as a training step does.
bool packsWeights(mlir::func::FuncOp step);

// Its matmuls, and the gradients of their weights, on bf16.
void narrowTrainedMatmuls(mlir::func::FuncOp step);

} // namespace mille::plan
