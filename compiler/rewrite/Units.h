// What rewrites ask about residual units: constant scales, and what a branch
// ends in. Changes nothing.
#pragma once
#include "dialects/transformer/Transformer.h"

namespace mille::rewrite {

// The number of a scale, 1 where it is absent; nothing where it is no number (a
// parameter, a schedule, a column of the layer table).
std::optional<double> constantOf(transformer::ScaleAttr scale);
bool isConstantBesides1(transformer::ScaleAttr scale);

// A constant scale.
transformer::ScaleAttr constantScale(mlir::MLIRContext *context, double value);

// The entry of branch i of a list by branch; null where there is none.
template <typename Attr> Attr entryOf(mlir::ArrayAttr list, size_t i) {
  return list ? mlir::cast<Attr>(list[list.size() == 1 ? 0 : i]) : Attr();
}

// What a factor of a branch can go into: the branch norm's weight, or the
// linear that ends the branch. `why` it cannot, as a sentence, where neither is
// set.
struct BranchEnd {
  transformer::LinearOp linear;
  transformer::NormAttr norm;
  llvm::StringRef why;
};
BranchEnd endOf(transformer::ResidualOp unit, size_t branch);

} // namespace mille::rewrite
