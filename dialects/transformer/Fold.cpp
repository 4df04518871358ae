// Folders and canonical forms: rewrites that change no rounding.
#include "dialects/transformer/Transformer.h"
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

void ResidualOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
