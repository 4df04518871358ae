// What the passes that narrow values share: the type of a value, and of its
// destination, and the copy of it that a launch hands out.
// Must not decide which values are narrow.
#pragma once
#include "dialects/kernel/Kernel.h"
#include "mlir/IR/Builders.h"

namespace mille::plan {

mlir::RankedTensorType withElements(mlir::Type tensor, mlir::Type element);

bool yieldsFromLaunch(mlir::OpOperand &use);

// A destination of that type, with as many rows as `like`, which is one.
mlir::Value destinationLike(mlir::OpBuilder builder, mlir::Value like,
                            mlir::Type type);

// Makes an f32 value `element` in the op that computes it, if that is a matmul,
// a row kernel, attention or a rotation, and if all uses read it so.
void holdAs(mlir::Type element, mlir::Value root,
            llvm::function_ref<bool(mlir::OpOperand &)> readsNarrow);

// The values `made`, which one op makes, as `reader` can use them: a launch
// that holds the op but not the reader hands them out.
llvm::SmallVector<mlir::Value> seenFrom(mlir::Operation *reader,
                                        llvm::ArrayRef<mlir::Value> made);

} // namespace mille::plan
