// Makes kernel ops on tensors: destinations, weights, scalar regions.
// Must not decide what to build.
#pragma once
#include "dialects/kernel/Kernel.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mille {

// Fills a scalar region: its arguments to what it yields.
using Scalar = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                              mlir::ValueRange)>;

// An uninitialised [rows, columns].
mlir::Value makeDestination(mlir::OpBuilder &builder, mlir::Location location,
                            mlir::Value rows, int64_t columns);

// One block with an f32 argument per operand, yielding what `scalar` returns.
void fillScalarRegion(mlir::OpBuilder &builder, mlir::Location location,
                      mlir::Region &region, unsigned arguments, Scalar scalar);

struct RowsParts {
  llvm::SmallVector<mlir::Value> inputs;
  llvm::SmallVector<mlir::Value> indices;
  llvm::SmallVector<int64_t> gather; // empty: no input is gathered
  kernel::RowNormAttr norm;          // may be null
};
mlir::Value makeRows(mlir::OpBuilder &builder, mlir::Location location,
                     const RowsParts &spec, mlir::Value rows, int64_t columns,
                     Scalar scalar);

// `starts` of a stack of weights; null: one weight for all rows.
mlir::Value makeMatmul(mlir::OpBuilder &builder, mlir::Location location,
                       mlir::Value input, mlir::Value weight,
                       mlir::Value starts, mlir::ValueRange extras,
                       int64_t accumulators, mlir::Value destination,
                       Scalar scalar);

} // namespace mille
