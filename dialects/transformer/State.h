// Checks of states that the verifiers of both dialects use. Must not change the
// program.
#pragma once
#include "dialects/transformer/Transformer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mille {

// Fails with an error unless `state` is an argument of the entry with
// `transformer.state`.
mlir::LogicalResult verifyStateArgument(mlir::Operation *op, mlir::Value state);
// Fails with an error unless a state of `entries` entries has entry `index`. In
// a body of layers, where the layer's number is added, only < 0 is an error.
mlir::LogicalResult verifyStateIndex(mlir::Operation *op, int64_t index,
                                     int64_t entries);

namespace transformer {

// Fails with an error unless past is [batch].
mlir::LogicalResult verifyPast(mlir::Operation *op, mlir::Value past,
                               int64_t batch);
// Checks C6 of linear_attend.
mlir::LogicalResult verifyState(LinearAttendOp op);

} // namespace transformer
} // namespace mille
