// How a file of adjoints gives them to its ops. Must be included by such files
// only.
#pragma once
#include "dialects/transformer/Differentiable.h"
#include "mlir/IR/Builders.h"

namespace mille::differentiate {

using transformer::Primal;
using Gradients = llvm::SmallVectorImpl<mlir::Value>;

// What the adjoint of an op reads, and the adjoint itself; `into` has a null
// for each operand. A file of adjoints specialises both for its ops.
template <typename Op>
llvm::SmallVector<mlir::Value> reads(Op op, const Primal &primal);
template <typename Op>
mlir::LogicalResult adjoint(Op op, mlir::OpBuilder &builder,
                            mlir::ValueRange gradients, Primal &primal,
                            Gradients &into);

// The model of the interface for `Op`.
template <typename Op>
struct Adjoint : transformer::DifferentiableOp::ExternalModel<Adjoint<Op>, Op> {
  llvm::SmallVector<mlir::Value> readByAdjoint(mlir::Operation *op,
                                               const Primal &primal) const {
    return reads<Op>(llvm::cast<Op>(op), primal);
  }
  mlir::LogicalResult buildAdjoint(mlir::Operation *op,
                                   mlir::OpBuilder &builder,
                                   mlir::ValueRange gradients, Primal &primal,
                                   Gradients &into) const {
    into.assign(op->getNumOperands(), mlir::Value());
    return adjoint<Op>(llvm::cast<Op>(op), builder, gradients, primal, into);
  }
};

template <typename... Ops> void attachAdjoints(mlir::MLIRContext *context) {
  (Ops::template attachInterface<Adjoint<Ops>>(*context), ...);
}

// The files of adjoints.
void attachRowAdjoints(mlir::MLIRContext *context);
void attachAttentionAdjoints(mlir::MLIRContext *context);
void attachExpertAdjoints(mlir::MLIRContext *context);
void attachUnitAdjoint(mlir::MLIRContext *context);

} // namespace mille::differentiate
