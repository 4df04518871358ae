// The formula of each activation, as scalar arith and math ops. Below the
// importer no other table of activations exists.
#pragma once
#include "dialects/kernel/Kernel.h"

namespace mille {

// The f32 constant nearest to `value`.
mlir::Value constant(mlir::OpBuilder &builder, mlir::Location location,
                     double value);

mlir::Value applyActivation(mlir::OpBuilder &builder, mlir::Location location,
                            transformer::Activation function, mlir::Value x);

} // namespace mille
