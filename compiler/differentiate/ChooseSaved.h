// Which values of a forward pass are saved for the backward pass, and their
// names. What is not saved is computed anew.
#pragma once
#include "dialects/transformer/Differentiable.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

#include <optional>

namespace mille::differentiate {

// What is computed anew: nothing, what costs little (norms, activations, sums),
// or all but the input of each layer.
enum class Recompute { none, cheap, layer };

// Of a segment of so many layers all but its input is computed anew before the
// backward pass goes through it, with the policy within; 0: no segments.
struct RecomputePolicy {
  Recompute within = Recompute::cheap;
  int64_t segment = 0;
};
// none, cheap, layer or segment:K.
std::optional<RecomputePolicy> recomputeNamed(llvm::StringRef word);

class Saved {
public:
  // Chooses what the adjoints of an entry's ops read.
  void choose(mlir::Block &entry, const transformer::Primal &forward,
              Recompute policy);
  // Saves it: adds `save` ops to the entry, and names to its layers.
  void insert() const;

  // Null: computed anew.
  mlir::StringAttr nameOf(mlir::Value value) const {
    return values.lookup(value);
  }
  mlir::StringAttr nameOfSum(transformer::ResidualOp unit) const {
    return sums.lookup(unit);
  }

private:
  void need(mlir::Value value);
  void needSum(transformer::ResidualOp unit);
  void needOperands(mlir::Operation *op);
  bool isCheap(mlir::Operation *op) const;
  mlir::StringAttr unique(mlir::MLIRContext *context, llvm::StringRef name);

  Recompute policy = Recompute::none;
  const transformer::Primal *primal = nullptr; // while it chooses
  llvm::StringSet<> taken;
  llvm::DenseSet<mlir::Value> seen;
  llvm::DenseSet<mlir::Operation *> seenSums;
  llvm::MapVector<mlir::Value, mlir::StringAttr> values;
  llvm::MapVector<mlir::Operation *, mlir::StringAttr> sums;
};

} // namespace mille::differentiate
