// What a symbol inside a model stands for: a parameter, or a column of the
// layer table. For verifiers; changes nothing.
#pragma once
#include "dialects/transformer/Transformer.h"

namespace mille::transformer {

struct Symbol {
  // A TypeAttr (the parameter's tensor type), an f64 (a number column), or null
  // where the model has none of that name.
  mlir::Attribute meaning;
  // Where the name is given: the parameter or the stack; may be null.
  mlir::Operation *definition = nullptr;
  // Not in a model: a fragment, whose symbols stay open.
  bool open = false;
};

// What `name` means to `user`. A column is read at the first layer that runs
// the body; the stack's own verifier checks that the others agree.
Symbol resolveSymbol(mlir::Operation *user, mlir::FlatSymbolRefAttr name,
                     mlir::SymbolTableCollection &tables);

// Error unless `name` (may be null) is a parameter of `shape` [-1: any extent];
// `role` is the subject: "weight".
mlir::LogicalResult verifyShapeOf(mlir::Operation *user, llvm::StringRef role,
                                  mlir::FlatSymbolRefAttr name,
                                  llvm::ArrayRef<int64_t> shape,
                                  mlir::SymbolTableCollection &tables);

// Error unless each column has one type. (C5 of `layers`.)
mlir::LogicalResult verifyColumns(LayerStack stack,
                                  mlir::SymbolTableCollection &tables);

// Error unless the parameter of a learned scale (may be null) is [1] or
// [channels], and the column of a constant one a number.
mlir::LogicalResult verifyScaleOf(mlir::Operation *user, llvm::StringRef role,
                                  ScaleAttr scale, int64_t channels,
                                  mlir::SymbolTableCollection &tables);

// "[2, ?, 8]", and "8" or "?".
std::string shapeText(llvm::ArrayRef<int64_t> shape);
std::string extentText(int64_t extent);

} // namespace mille::transformer
