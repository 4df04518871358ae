// Reads norms and scales of residual units. Must not change a unit.
#include "dialects/transformer/Slots.h"

using namespace mlir;
using namespace mille::transformer;

bool mille::transformer::isNorm(NormAttr norm) {
  return norm && norm.getKind() != NormKind::identity;
}

bool mille::transformer::holdsNorm(ArrayAttr norms) {
  return norms && llvm::any_of(norms.getAsRange<NormAttr>(), isNorm);
}

std::optional<double> mille::transformer::constantOf(ScaleAttr scale) {
  if (!scale)
    return 1.0;
  if (scale.getKind() != ScaleKind::constant || scale.getSymbol())
    return std::nullopt;
  return double(scale.getValue());
}
