// How an op says its own derivative. The pass `differentiate` knows no op but by
// this interface; compiler/differentiate implements it for the ops.
#ifndef MILLE_DIFFERENTIABLE
#define MILLE_DIFFERENTIABLE
include "mlir/IR/OpBase.td"

def DifferentiableOp : OpInterface<"DifferentiableOp"> {
  let description = [{
    The adjoint of an op takes the gradients of its results and gives those of its
    operands. Gradients of parameters are no values: ops add them to the gradient of
    a symbol, so that a body of `layers` stays one body.
  }];
  let cppNamespace = "::mille::transformer";
  let methods = [
    InterfaceMethod<[{
      The values of the forward pass that the adjoint asks `Primal::at` for, each an
      operand or a result of the op, or a value of its regions. These are what a
      forward pass may have to save.
    }], "::llvm::SmallVector<::mlir::Value>", "readByAdjoint",
    (ins "const ::mille::transformer::Primal &":$primal)>,
    InterfaceMethod<[{
      Appends the adjoint at the builder. `gradients` has an entry per result, null
      where nothing depends on it; `into` gets an entry per operand, null where it has
      no gradient. Ops that add to gradients of symbols are made on the way. Fails
      with an error that names what has no adjoint.
    }], "::llvm::LogicalResult", "buildAdjoint",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$gradients,
         "::mille::transformer::Primal &":$primal,
         "::llvm::SmallVectorImpl<::mlir::Value> &":$into)>
  ];
}
#endif
