// Folders and canonical forms, which remove scales of 1 and identity norms.
// Must not change any rounding.
#include "dialects/transformer/Slots.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mille::transformer;

OpFoldResult NormOp::fold(FoldAdaptor) {
  if (getNorm().getKind() == NormKind::identity)
    return getInput();
  return {};
}

OpFoldResult ActivateOp::fold(FoldAdaptor) {
  if (getFunction() == Activation::identity)
    return getInput();
  return {};
}

namespace {

bool isIdentity(NormAttr norm) { return norm && !isNorm(norm); }
bool isOne(ScaleAttr scale) { return scale && constantOf(scale) == 1.0; }

// A list with an entry per branch can go only if all of its entries can.
template <typename Kind, typename Says>
bool saysNothing(ArrayAttr list, Says isNothing) {
  return list && llvm::all_of(list.getAsRange<Kind>(), isNothing);
}

LogicalResult dropIdentities(ResidualOp op, PatternRewriter &rewriter) {
  SmallVector<StringAttr> dropped;
  if (saysNothing<NormAttr>(op.getInNormAttr(), isIdentity))
    dropped.push_back(op.getInNormAttrName());
  if (saysNothing<NormAttr>(op.getBranchNormAttr(), isIdentity))
    dropped.push_back(op.getBranchNormAttrName());
  if (isIdentity(op.getOutNormAttr()))
    dropped.push_back(op.getOutNormAttrName());
  if (isOne(op.getSkipScaleAttr()))
    dropped.push_back(op.getSkipScaleAttrName());
  if (saysNothing<ScaleAttr>(op.getBranchScaleAttr(), isOne))
    dropped.push_back(op.getBranchScaleAttrName());
  if (isOne(op.getStreamScaleAttr()))
    dropped.push_back(op.getStreamScaleAttrName());
  if (dropped.empty())
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    for (StringAttr name : dropped)
      op->removeAttr(name);
  });
  return success();
}

} // namespace

void ResidualOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *) {
  patterns.add(dropIdentities);
}
