// What verifiers of several files ask of shapes and numbers. Must be used by
// verifiers only.
#pragma once
#include "dialects/transformer/Transformer.h"

#include <cmath>

namespace mille::transformer {

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
}
inline int64_t channelsOf(mlir::Value value) { return shapeOf(value).back(); }

// Whether two extents are equal, if both are known.
inline bool agree(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  return succeeded(mlir::verifyCompatibleShape(a, b));
}

inline mlir::InFlightDiagnostic mismatch(mlir::Operation *op,
                                         llvm::StringRef left,
                                         llvm::ArrayRef<int64_t> leftShape,
                                         llvm::StringRef right,
                                         llvm::ArrayRef<int64_t> rightShape) {
  return op->emitOpError() << left << " is " << shapeText(leftShape) << " but "
                           << right << " is " << shapeText(rightShape);
}

inline mlir::LogicalResult verifyFinite(mlir::Operation *op,
                                        llvm::StringRef name, double value) {
  if (std::isfinite(value))
    return mlir::success();
  return op->emitOpError() << name << " is " << formatDouble(value)
                           << " but must be finite";
}

// Fails with an error unless `experts` (may be null) has the rows of `input`.
inline mlir::LogicalResult
verifyExperts(mlir::Operation *op, mlir::Value experts, mlir::Value input) {
  if (!experts || agree(shapeOf(experts), shapeOf(input).drop_back()))
    return mlir::success();
  return mismatch(op, "experts", shapeOf(experts), "input", shapeOf(input));
}

// Fails with an error unless fixed_rows (may be null) names some of `rows`.
inline mlir::LogicalResult verifyFixedRows(mlir::Operation *op,
                                           mlir::DenseI64ArrayAttr fixed,
                                           int64_t rows) {
  if (!fixed)
    return mlir::success();
  llvm::ArrayRef<int64_t> all = fixed;
  if (all.size() == 3 && all[0] > 0 && rows % all[0] == 0 && all[1] >= 0 &&
      all[2] > 0 && all[1] <= all[0] - all[2])
    return mlir::success();
  return op->emitOpError() << "fixed_rows is " << fixed
                           << " but must be [period, first, count] of " << rows
                           << " rows";
}

} // namespace mille::transformer
