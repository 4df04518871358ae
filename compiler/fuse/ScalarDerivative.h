// The derivative of a scalar formula, as scalar arith and math ops.
#pragma once
#include "mlir/IR/Builders.h"

namespace mille {

// d of / d by, made at the builder's insertion point, where all operands of
// `of` must be visible. A null value is 0. Where a formula has a kink the
// derivative is that of one side: 0 of relu at 0.
mlir::Value derivativeOf(mlir::OpBuilder &builder, mlir::Value of,
                         mlir::Value by);

} // namespace mille
