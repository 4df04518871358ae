// Merges an elementwise `rows` op into the kernel that makes its input: the one
// mechanism behind every fusion into an epilogue.
// Must not choose which ops to merge, nor name the boundary: the passes do.
#pragma once
#include "compiler/fuse/KernelBuilder.h"

#include <string>

namespace mille {

// No norm, nothing gathered.
bool isElementwise(kernel::RowsOp op);

// The distinct inputs that are read by element, in order.
llvm::SmallVector<mlir::Value> elementInputs(kernel::RowsOp op);

// Why `consumer` cannot be merged into the op that makes `input`, which is read
// by element and made by a matmul or rows op; a sentence, empty where it can.
std::string whyNotMerge(kernel::RowsOp consumer, mlir::Value input);

// Merges it and erases both; returns the op that does the work of both. Values
// of the operands are read once each; the order of operations is kept.
mlir::Operation *mergeInto(kernel::RowsOp consumer, mlir::Value input);

// Copies a scalar region's ops; its arguments are `arguments`. Returns what it
// yields.
mlir::Value inlineScalar(mlir::OpBuilder &builder, mlir::Region &region,
                         mlir::ValueRange arguments);

// Equal but for the names of values.
bool sameScalar(mlir::Region &a, mlir::Region &b);

// Erases ops without effects whose results nothing reads.
void eraseDead(mlir::func::FuncOp function);

// Bytes of a row of a [rows, N] f32 value.
int64_t rowBytes(mlir::Value value);

} // namespace mille
