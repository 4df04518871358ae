// Which values of a forward pass depend on parameters. Must not know what an op
// computes.
#pragma once
#include "dialects/transformer/Transformer.h"
#include "llvm/ADT/DenseSet.h"

namespace mille::differentiate {

class Activity {
public:
  explicit Activity(mlir::Block &entry) { visit(entry); }
  bool isActive(mlir::Value value) const { return active.contains(value); }

private:
  void visit(mlir::Block &block);
  void visit(mlir::Operation &op);

  llvm::DenseSet<mlir::Value> active;
  llvm::DenseSet<mlir::StringAttr> sums; // that have an active term
};

} // namespace mille::differentiate
