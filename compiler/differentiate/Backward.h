// Builds the backward pass of a block: op by op from its end, with what the
// adjoints of the ops say. Must not know an op but the layer loop, whose body
// it enters.
#pragma once
#include "compiler/differentiate/Activity.h"
#include "compiler/differentiate/ChooseSaved.h"
#include "dialects/transformer/Differentiable.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace mille::differentiate {

class Backward final : public transformer::Primal {
public:
  Backward(const Activity &activity, const Saved &saved,
           mlir::OpBuilder &builder)
      : activity(activity), saved(saved), builder(builder) {}

  // Keeps the gradients at the input and the result of these units as outputs,
  // named by the units' numbers.
  void keepAt(llvm::ArrayRef<transformer::ResidualOp> units);
  // Says that these loops save no values on the way forward: each runs again
  // just before its backward pass, and saves them then.
  void computeAgain(llvm::ArrayRef<transformer::LayersOp> loops) {
    again.insert(loops.begin(), loops.end());
  }
  // Adds a gradient to that of a value of the forward pass (null: nothing).
  void add(mlir::Value forward, mlir::Value gradient);
  // Builds the adjoints of `ops`, the last first.
  mlir::LogicalResult run(llvm::ArrayRef<mlir::Operation *> ops);

  mlir::Value at(mlir::Value forward) override;
  bool isActive(mlir::Value forward) const override {
    return activity.isActive(forward);
  }
  mlir::FailureOr<mlir::Value> branch(mlir::Region &region,
                                      mlir::Value gradient) override;
  mlir::Value sumOf(transformer::ResidualOp unit) override;

private:
  mlir::LogicalResult runLayers(transformer::LayersOp layers,
                                mlir::Value gradient);
  mlir::LogicalResult runLayersBack(transformer::LayersOp layers,
                                    mlir::Value gradient);
  mlir::LogicalResult fillBody(transformer::LayersOp layers, int64_t body,
                               mlir::Block &block);
  mlir::LogicalResult visit(mlir::Operation *op);
  mlir::Value compute(mlir::Value forward);
  mlir::Value takeGradient(mlir::Value forward);
  mlir::LogicalResult leave(mlir::Value value, mlir::Value gradient);
  mlir::StringAttr collect(mlir::Value value);

  const Activity &activity;
  const Saved &saved;
  mlir::OpBuilder &builder;
  llvm::MapVector<mlir::Value, mlir::Value> gradients; // in their order
  // Values from outside of the layers at hand, and the sums of their gradients.
  llvm::MapVector<mlir::Value, mlir::StringAttr> collectedHere;
  int64_t collections = 0;
  // The gradients of sums of the forward pass, which are those of their terms.
  llvm::DenseMap<mlir::StringAttr, mlir::Value> ofSums;
  // Values of the forward pass that the backward block already has.
  llvm::DenseMap<mlir::Value, mlir::Value> known;
  llvm::DenseMap<mlir::Operation *, mlir::Value> knownSums; // of units
  llvm::DenseMap<mlir::Operation *, int64_t> kept;          // units' numbers
  llvm::DenseSet<mlir::Operation *> again; // loops that are computed again
};

} // namespace mille::differentiate
