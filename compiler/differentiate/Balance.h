// The loss that balances the load of experts, as a term of the loss of a step.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace mille::differentiate {

struct Balance {
  mlir::Value losses; // of the rows, with this one
  mlir::Value shares, gradient;
};

// Sums over all routers of the step what its rows have chosen, and adds
// `factor` times the loss of that to `losses`, [batch, tokens]; `mask` (may be
// null) hides tokens. Fails, with an error, where one loss cannot balance them.
mlir::FailureOr<Balance> addBalance(mlir::func::FuncOp step,
                                    mlir::OpBuilder &builder, double factor,
                                    mlir::Value losses, mlir::Value mask);

} // namespace mille::differentiate
