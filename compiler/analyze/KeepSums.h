// Makes a model keep the stream at every residual sum, so that a run of it
// shows what was summed.
#pragma once
#include "mlir/IR/Operation.h"

#include <string>

namespace mille::analyze {

// Splits each unit outside `layers` into sum, output norm and stream scale, and
// keeps entry i of "analyze.sum.S" and "analyze.out.S" for unit i of stack S.
// The numbers of a run stay the same.
void keepSums(mlir::Operation *model);

std::string nameOfSums(size_t stack);
std::string nameOfResults(size_t stack);

} // namespace mille::analyze
