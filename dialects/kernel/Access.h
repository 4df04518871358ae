// Checks that several verifiers of kernels use. Must be included in this folder
// only.
#pragma once
#include "dialects/kernel/Kernel.h"

namespace mille::kernel {

inline mlir::ShapedType shapedOf(mlir::Value value) {
  return llvm::cast<mlir::ShapedType>(value.getType());
}
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return shapedOf(value).getShape();
}

// The elements that an operand may have.
enum class Elements { f32, real, realOrBytes, f32OrBf16, bytes, anyBytes, f16 };

// Checks that a buffer is [rows, N] with such elements and a static N. Returns
// N, or nothing after an error.
std::optional<int64_t> columnsOf(mlir::Operation *op, llvm::StringRef name,
                                 mlir::Value value,
                                 Elements elements = Elements::f32);

// Checks that f32 `outs` is [rows, wanted].
mlir::LogicalResult verifyOutColumns(mlir::Operation *op, mlir::Value out,
                                     int64_t wanted);

// Checks that an op has a result for its `outs` on tensors, and none on
// memrefs.
mlir::LogicalResult verifyResult(mlir::Operation *op, mlir::Value out,
                                 mlir::Value result);

// The same for an op with several outs, which are all tensors or all memrefs.
mlir::LogicalResult verifyResults(mlir::Operation *op, mlir::ValueRange outs,
                                  mlir::ValueRange results);

// Checks that `value`, if present, is f32 with one of the shapes.
mlir::LogicalResult
verifyOneOf(mlir::Operation *op, llvm::StringRef name, mlir::Value value,
            llvm::ArrayRef<llvm::SmallVector<int64_t>> shapes);

// Checks that `value`, if present, is i32 [?].
mlir::LogicalResult verifyIndices(mlir::Operation *op, llvm::StringRef name,
                                  mlir::Value value);

// Checks that `starts`, if present, is i32 [entries + 1]. Gives the entries, 0
// where it is absent.
mlir::FailureOr<int64_t> entriesOf(mlir::Operation *op, mlir::Value starts);

// Checks the heads of linear attention: sizes, columns of buffers at their
// offsets, scale.
mlir::LogicalResult verifyHeads(LinearRecurrenceOp op, mlir::Value out);

// The same of attention's backward pass, whose gradient is as the out was.
mlir::LogicalResult verifyHeads(AttentionBackwardOp op);

// Checks that a scalar region has `arguments` f32 arguments and yields one f32,
// which it computes by ops of ScalarOps.def.
mlir::LogicalResult verifyScalarRegion(mlir::Operation *op,
                                       mlir::Region &region, size_t arguments,
                                       llvm::StringRef reason);

// Checks that operand `index`, one of those called `name`, is read for each
// element of an out of `columns` columns. With experts (`entries` > 0), it may
// be a table with a row per expert.
mlir::LogicalResult verifyAccess(mlir::Operation *op, llvm::StringRef name,
                                 size_t index, mlir::Value value,
                                 int64_t columns, int64_t entries = 0);

// Checks that a norm's groups divide the columns, and its eps.
mlir::LogicalResult verifyRowNorm(mlir::Operation *op, RowNormAttr norm,
                                  int64_t columns);

mlir::LogicalResult verifyPositive(mlir::Operation *op, llvm::StringRef name,
                                   int64_t size);

} // namespace mille::kernel
