// What the verifiers of both dialects ask of states. Changes nothing.
#pragma once
#include "dialects/transformer/Transformer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mille {

// Error unless `state` is an argument of the entry that says
// `transformer.state`.
mlir::LogicalResult verifyStateArgument(mlir::Operation *op, mlir::Value state);
// Error unless a state of `entries` entries has number `index`; in a body of
// layers the layer's number comes on top, so that only < 0 is wrong.
mlir::LogicalResult verifyStateIndex(mlir::Operation *op, int64_t index,
                                     int64_t entries);

namespace transformer {

// Error unless past is [batch].
mlir::LogicalResult verifyPast(mlir::Operation *op, mlir::Value past,
                               int64_t batch);
// C6 of linear_attend.
mlir::LogicalResult verifyState(LinearAttendOp op);

} // namespace transformer
} // namespace mille
