// What ConvertToKernel's two files share: values so far, weights, and the place
// at the head of the function where things used by all layers go.
#pragma once
#include "compiler/fuse/KernelBuilder.h"
#include "compiler/fuse/Passes.h"
#include "mlir/IR/SymbolTable.h"

namespace mille {

class Converter {
public:
  Converter(transformer::ModelOp model, mlir::func::FuncOp function)
      : model(model), symbols(model), function(function),
        head(model.getContext()), body(model.getContext()) {}

  // Replaces the function by its kernel form.
  mlir::LogicalResult run();

private:
  // The function (ConvertToKernel.cpp).
  mlir::func::FuncOp makeFunction();
  mlir::LogicalResult convertBlock(mlir::Block &block);
  mlir::LogicalResult convert(mlir::Operation *op);
  mlir::LogicalResult convertLayers(transformer::LayersOp op);

  // Single ops (ConvertOps.cpp).
  mlir::LogicalResult convertEmbed(transformer::EmbedOp op);
  mlir::LogicalResult convertLinear(transformer::LinearOp op);
  mlir::LogicalResult convertAttend(transformer::AttendOp op);
  mlir::LogicalResult convertRotate(transformer::RotateOp op);
  mlir::LogicalResult convertPositionBias(transformer::PositionBiasOp op);
  mlir::LogicalResult convertPool(transformer::PoolOp op);
  mlir::LogicalResult convertElementwise(mlir::Operation *op, Scalar scalar);

  // Norms, scales and residual units (ConvertUnits.cpp).
  mlir::Value norm(mlir::Location location, transformer::NormAttr attribute,
                   mlir::Value input, mlir::Value rows,
                   transformer::ScaleAttr scale = {});
  mlir::FailureOr<mlir::Value> scaleOperand(mlir::Operation *at,
                                            transformer::ScaleAttr scale);
  mlir::LogicalResult convertResidual(transformer::ResidualOp op);

  // A parameter's value; at the head unless it names a column.
  mlir::Value weight(mlir::Location location, mlir::Attribute value);
  // The number of rows of what `original` becomes.
  mlir::Value rowsOf(mlir::Value original);
  int64_t channelsOf(mlir::Value original) {
    return llvm::cast<mlir::ShapedType>(original.getType()).getShape().back();
  }
  mlir::Value valueOf(mlir::Value original) { return values.lookup(original); }
  // An op made once per distinct `key` of attributes and values at the head.
  mlir::Value once(llvm::ArrayRef<const void *> key,
                   llvm::function_ref<mlir::Value()> make);

  transformer::ModelOp model;
  mlir::SymbolTable symbols;
  mlir::func::FuncOp function;
  mlir::OpBuilder head; // before everything that is not used by all layers
  mlir::OpBuilder body;
  mlir::Value batch, tokens, allRows, zero;
  llvm::DenseMap<mlir::Value, mlir::Value> values;
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Block *>, mlir::Value> weights;
  std::vector<std::pair<llvm::SmallVector<const void *>, mlir::Value>> made;

  // Inside a body of `layers`: what its columns are, and where weights go.
  llvm::DenseMap<mlir::StringAttr, mlir::Attribute> columns;
  mlir::Block *layer = nullptr;
  mlir::Operation *lastWeight = nullptr;
};

} // namespace mille
