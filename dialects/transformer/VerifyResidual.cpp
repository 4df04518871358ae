// The verifier of residual units, one `// Cn` per labelled constraint.
#include "dialects/transformer/Slots.h"
#include "dialects/transformer/Symbols.h"

using namespace mlir;
using namespace mille::transformer;

namespace {

LogicalResult verifyBranches(ResidualOp op) {
  if (op.getBranches().empty()) // C1
    return op.emitOpError("has no branches");
  Type stream = op.getInput().getType();
  for (auto [index, branch] : llvm::enumerate(op.getBranches())) {
    Block &block = branch.front();
    if (block.getNumArguments() != 1 ||
        block.getArgument(0).getType() != stream) // C1
      return op.emitOpError()
             << "branch " << index << " takes " << block.getArgumentTypes()
             << " but the input is " << stream;
    auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
    if (!yield || yield.getValues().getTypes() != TypeRange(stream)) // C1
      return op.emitOpError()
             << "branch " << index
             << " must yield one value of the input's type, " << stream;
  }
  return success();
}

LogicalResult verifyLists(ResidualOp op) {
  size_t branches = op.getBranches().size();
  if (auto norms = op.getInNormAttr())
    if (norms.size() != 1 && norms.size() != branches) // C2
      return op.emitOpError()
             << "in_norm has " << norms.size() << " entries but there are "
             << branches << " branches";
  for (auto [name, list] :
       {std::pair<StringRef, ArrayAttr>{"branch_norm", op.getBranchNormAttr()},
        {"branch_scale", op.getBranchScaleAttr()}})
    if (list && list.size() != branches) // C3
      return op.emitOpError()
             << name << " has " << list.size() << " entries but there are "
             << branches << " branches";
  return success();
}

// Whether the skip has no effect: the norm after the sum reads one branch only.
bool isNormedAlone(ResidualOp op) {
  return isNorm(op.getOutNormAttr()) && op.getBranches().size() == 1 &&
         constantOf(op.getSkipScaleAttr()) == 0.0;
}

// Whether the scale is one positive number other than 1 for the whole branch.
bool isLostUnderNorm(ScaleAttr scale) {
  if (scale.getKind() == ScaleKind::learned_channel)
    return false;
  std::optional<double> number = constantOf(scale);
  return !number || (*number > 0 && *number != 1);
}

} // namespace

LogicalResult ResidualOp::verify() {
  if (failed(verifyBranches(*this)) || failed(verifyLists(*this)))
    return failure();
  if (getTap() == Tap::normed) {
    ArrayAttr norms = getInNormAttr();
    size_t count = norms ? norms.size() : 0;
    if (count != 1) // C4
      return emitOpError() << "tap is normed but in_norm has " << count
                           << " entries where one shared norm is needed";
    if (!isNorm(cast<NormAttr>(norms[0]))) // C4
      return emitOpError("tap is normed but in_norm is the identity");
  }
  if (isNormedAlone(*this) && getBranchScaleAttr()) {
    auto scale = cast<ScaleAttr>(getBranchScaleAttr()[0]);
    if (isLostUnderNorm(scale)) // C7
      return emitOpError() << "branch_scale is " << scale
                           << " but out_norm undoes it, as skip_scale is 0";
  }
  if (auto layer = getLayer(); layer && int64_t(*layer) < 0) // C8
    return emitOpError() << "layer is " << int64_t(*layer)
                         << " but must be >= 0";
  return verifySumAs(*this);
}

LogicalResult mille::transformer::verifyScaleOf(Operation *op, StringRef role,
                                                ScaleAttr scale,
                                                int64_t channels,
                                                SymbolTableCollection &tables) {
  if (!scale || !scale.getSymbol())
    return success();
  if (scale.getKind() == ScaleKind::learned_scalar)
    return verifyShapeOf(op, role, scale.getSymbol(), {1}, tables); // C5
  if (scale.getKind() == ScaleKind::learned_channel)
    return verifyShapeOf(op, role, scale.getSymbol(), {channels}, tables); // C5
  Symbol symbol = resolveSymbol(op, scale.getSymbol(), tables);
  if (symbol.open || isa_and_nonnull<FloatAttr>(symbol.meaning))
    return success();
  auto error = op->emitOpError() // C9
               << role << " is constant but " << scale.getSymbol()
               << " is not a number of the layer table";
  if (symbol.definition)
    error.attachNote(symbol.definition->getLoc())
        << scale.getSymbol() << " is given here";
  return error;
}

namespace {

LogicalResult verifyNorm(ResidualOp op, StringRef role, NormAttr norm,
                         int64_t channels, SymbolTableCollection &tables) {
  if (!norm)
    return success();
  if (failed(verifyShapeOf(op, (role + " weight").str(), norm.getWeight(),
                           {channels}, tables))) // C6
    return failure();
  return verifyShapeOf(op, (role + " bias").str(), norm.getBias(),
                       {channels}, // C6
                       tables);
}

} // namespace

LogicalResult ResidualOp::verifySymbolUses(SymbolTableCollection &tables) {
  int64_t channels =
      cast<RankedTensorType>(getInput().getType()).getShape().back();
  for (auto [role, norms] :
       {std::pair<StringRef, ArrayAttr>{"in_norm", getInNormAttr()},
        {"branch_norm", getBranchNormAttr()}})
    for (Attribute norm : norms ? norms.getValue() : ArrayRef<Attribute>())
      if (failed(
              verifyNorm(*this, role, cast<NormAttr>(norm), channels, tables)))
        return failure();
  if (failed(
          verifyNorm(*this, "out_norm", getOutNormAttr(), channels, tables)) ||
      failed(verifyScaleOf(*this, "skip_scale", getSkipScaleAttr(), channels,
                           tables)) ||
      failed(verifyScaleOf(*this, "stream_scale", getStreamScaleAttr(),
                           channels, tables)))
    return failure();
  if (auto scales = getBranchScaleAttr())
    for (auto scale : scales.getAsRange<ScaleAttr>())
      if (failed(verifyScaleOf(*this, "branch_scale", scale, channels, tables)))
        return failure();
  return success();
}
