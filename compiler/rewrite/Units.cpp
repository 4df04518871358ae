// Answers questions of rewrites about residual units: their constant scales,
// and the op that ends a branch. Must not change the model.
#include "compiler/rewrite/Units.h"

using namespace mlir;
using namespace mille::rewrite;
using namespace mille::transformer;

bool mille::rewrite::isConstantBesides1(ScaleAttr scale) {
  std::optional<double> number = constantOf(scale);
  return number && *number != 1;
}

ScaleAttr mille::rewrite::constantScale(MLIRContext *context, double value) {
  return ScaleAttr::get(context, ScaleKind::constant, F64(value), StringAttr(),
                        FlatSymbolRefAttr(), Share::unit, F64(0.0), F64(1.0),
                        0);
}

BranchEnd mille::rewrite::endOf(ResidualOp unit, size_t branch) {
  if (auto norm = entryOf<NormAttr>(unit.getBranchNormAttr(), branch);
      isNorm(norm)) {
    if (norm.getWeight())
      return {{}, norm, ""};
    return {{}, {}, "the branch norm has no weight"};
  }
  Block &block = unit.getBranches()[branch].front();
  Value end = block.getTerminator()->getOperand(0);
  auto linear = end.getDefiningOp<LinearOp>();
  if (!linear || linear->getBlock() != &block)
    return {{}, {}, "the branch does not end in a linear"};
  if (!end.hasOneUse())
    return {{}, {}, "the last linear has another reader"};
  return {linear, {}, ""};
}
