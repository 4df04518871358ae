// Exact gradients of a model's loss, unit by unit, for `mille analyze`.
#pragma once
#include "compiler/analyze/Analysis.h"
#include "compiler/driver/package/Reference.h"

namespace mille {

// Differentiates a copy of the model and runs it on `inputs` in double. The
// loss is the cross-entropy of the logits, or, of a model without logits, the
// product of its first output with random numbers.
Status measureGradients(Reference &reference, const Values &inputs,
                        uint64_t seed, mlir::MLIRContext &context,
                        analyze::Report &report);

} // namespace mille
