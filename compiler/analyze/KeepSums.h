// Makes a model keep the stream at every residual sum, so that a run of it
// gives these sums. Must not change the numbers of a run.
#pragma once
#include "mlir/IR/Operation.h"

#include <string>

namespace mille::analyze {

// Splits each unit outside `layers` into the sum, the output norm and the
// stream scale. For unit i of stack S the model keeps entry i of
// "analyze.sum.S" and "analyze.out.S".
void keepSums(mlir::Operation *model);

std::string nameOfSums(size_t stack);
std::string nameOfResults(size_t stack);

} // namespace mille::analyze
