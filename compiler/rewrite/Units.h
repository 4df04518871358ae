// Answers questions of rewrites about residual units: their constant scales,
// and the op that ends a branch. Must not change the model.
#pragma once
#include "dialects/transformer/Slots.h"

namespace mille::rewrite {

bool isConstantBesides1(transformer::ScaleAttr scale);

// A constant scale.
transformer::ScaleAttr constantScale(mlir::MLIRContext *context, double value);

// The entry of branch i in a list with an entry per branch; null if absent.
template <typename Attr> Attr entryOf(mlir::ArrayAttr list, size_t i) {
  return list ? mlir::cast<Attr>(list[list.size() == 1 ? 0 : i]) : Attr();
}

// The place that can take a factor of a branch: the branch norm's weight, or
// the linear that ends the branch. If neither is set, `why` gives the reason as
// a sentence.
struct BranchEnd {
  transformer::LinearOp linear;
  transformer::NormAttr norm;
  llvm::StringRef why;
};
BranchEnd endOf(transformer::ResidualOp unit, size_t branch);

} // namespace mille::rewrite
