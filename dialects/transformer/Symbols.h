// Resolves a symbol inside a model to a parameter or a column of the layer
// table. Must be used by verifiers only.
#pragma once
#include "dialects/transformer/Transformer.h"

namespace mille::transformer {

struct Symbol {
  // A TypeAttr with the parameter's tensor type, an f64 for a column of
  // numbers, or null if the model has no such name.
  mlir::Attribute meaning;
  // The parameter or the stack that defines the name; may be null.
  mlir::Operation *definition = nullptr;
  // Whether the op is not in a model: a fragment may have undefined symbols.
  bool open = false;
};

// Resolves `name` for `user`. A column is read at the first layer that runs the
// body; the stack's verifier checks that the other layers agree.
Symbol resolveSymbol(mlir::Operation *user, mlir::FlatSymbolRefAttr name,
                     mlir::SymbolTableCollection &tables);

// The type of a value (valueType) whose symbols are of the model around `user`,
// which null stands for where the op is not in a model. Fails with an error.
mlir::FailureOr<mlir::RankedTensorType>
typeOfValue(mlir::Operation *user, mlir::Attribute value,
            mlir::SymbolTableCollection &tables);

// Fails with an error unless `name` (may be null) is a parameter of shape
// `shape` (-1: any extent). `role` is the subject of the error: "weight".
mlir::LogicalResult verifyShapeOf(mlir::Operation *user, llvm::StringRef role,
                                  mlir::FlatSymbolRefAttr name,
                                  llvm::ArrayRef<int64_t> shape,
                                  mlir::SymbolTableCollection &tables);

// The same for the `weight` [rows, columns] and the `bias` (may be null)
// [outputs] of a linear map, with an entry for each expert where `byExpert`.
mlir::LogicalResult verifyLinearShapes(mlir::Operation *user,
                                       mlir::FlatSymbolRefAttr weight,
                                       mlir::FlatSymbolRefAttr bias,
                                       llvm::ArrayRef<int64_t> rowsAndColumns,
                                       int64_t outputs, bool byExpert,
                                       mlir::SymbolTableCollection &tables);

// Fails with an error unless each column has one type. (C5 of `layers`.)
mlir::LogicalResult verifyColumns(LayerStack stack,
                                  mlir::SymbolTableCollection &tables);

// Fails with an error unless the parameter of a learned scale (may be null) is
// [1] or [channels], and the column of a constant scale holds numbers.
mlir::LogicalResult verifyScaleOf(mlir::Operation *user, llvm::StringRef role,
                                  ScaleAttr scale, int64_t channels,
                                  mlir::SymbolTableCollection &tables);

// Fails with an error unless the layers around a unit save its sum. (C10 of
// `residual`.)
mlir::LogicalResult verifySumAs(ResidualOp op);

// Fails with an error unless the entry has saved what it reads. (C6 of
// `model`.)
mlir::LogicalResult verifySaved(mlir::Operation *entry);

} // namespace mille::transformer
