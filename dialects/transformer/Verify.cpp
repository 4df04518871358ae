// Verifiers of the ops on activations, one `// Cn` per labelled constraint.
// Models and stacks are in VerifyModel.cpp, units in VerifyResidual.cpp.
#include "dialects/transformer/Symbols.h"
#include "dialects/transformer/VerifyShapes.h"

using namespace mlir;
using namespace mille::transformer;
using mille::extentText;
using mille::shapeText;

LogicalResult GateOp::verify() {
  return verifyFinite(*this, "up_offset",
                      getUpOffset().convertToDouble()); // C1
}

namespace {

// Of embed and of its gradient, whose rows are `rows`.
template <typename Op> LogicalResult verifyTables(Op op, Value rows) {
  if (op.getIds().empty()) // C1
    return op.emitOpError("has no ids");
  for (auto [name, size] :
       {std::pair<StringRef, size_t>{"tables", op.getTables().size()},
        {"offsets", op.getOffsets().size()}})
    if (size != op.getIds().size()) // C1
      return op.emitOpError()
             << name << " has " << size << " entries but there are "
             << op.getIds().size() << " ids";
  for (Value ids : op.getIds())
    if (!agree(shapeOf(ids), shapeOf(rows).drop_back())) // C3
      return mismatch(op, "ids", shapeOf(ids), "result", shapeOf(rows));
  return verifyFinite(op, "scale", op.getScale().convertToDouble()); // C4
}

template <typename Op>
LogicalResult verifyTableShapes(Op op, Value rows,
                                SymbolTableCollection &tables) {
  for (auto table : op.getTables().template getAsRange<FlatSymbolRefAttr>())
    if (failed(verifyShapeOf(op, "table", table, {-1, channelsOf(rows)},
                             tables))) // C2
      return failure();
  return success();
}

} // namespace

LogicalResult EmbedOp::verify() { return verifyTables(*this, getResult()); }

LogicalResult EmbedOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyTableShapes(*this, getResult(), tables);
}

LogicalResult EmbedGradientOp::verify() {
  return verifyTables(*this, getGradient());
}

LogicalResult EmbedGradientOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyTableShapes(*this, getGradient(), tables);
}

namespace {

// Of norm and of its gradient.
LogicalResult verifyGroup(Operation *op, NormAttr norm, int64_t channels) {
  int64_t group = norm.getGroup();
  if (group == 0 ||
      (!ShapedType::isDynamic(channels) && channels % group == 0)) // C2
    return success();
  return op->emitOpError() << "norms groups of " << group << " but input has "
                           << extentText(channels) << " channels";
}

// The weight of a grouped norm has the size of a group or of all channels.
int64_t weightedChannels(Operation *op, int64_t group, int64_t channels,
                         FlatSymbolRefAttr weight,
                         SymbolTableCollection &tables) {
  if (group == 0 || !weight)
    return channels;
  auto type =
      dyn_cast_or_null<TypeAttr>(resolveSymbol(op, weight, tables).meaning);
  auto tensor =
      type ? dyn_cast<RankedTensorType>(type.getValue()) : RankedTensorType();
  return tensor && tensor.getNumElements() == channels ? channels : group;
}

LogicalResult verifyNormShapes(Operation *op, NormAttr norm, int64_t channels,
                               SymbolTableCollection &tables) {
  FlatSymbolRefAttr weight = norm.getWeight(), bias = norm.getBias();
  channels = weightedChannels(op, norm.getGroup(), channels,
                              weight ? weight : bias, tables);
  if (failed(verifyShapeOf(op, "weight", weight, {channels}, tables))) // C1
    return failure();
  return verifyShapeOf(op, "bias", bias, {channels}, tables); // C1
}

} // namespace

LogicalResult NormOp::verify() {
  return verifyGroup(*this, getNorm(), channelsOf(getInput()));
}

LogicalResult NormOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyNormShapes(*this, getNorm(), channelsOf(getInput()), tables);
}

LogicalResult NormGradientOp::verify() {
  return verifyGroup(*this, getNorm(), channelsOf(getInput()));
}

LogicalResult NormGradientOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyNormShapes(*this, getNorm(), channelsOf(getInput()), tables);
}

LogicalResult LinearOp::verify() {
  if (failed(verifyExperts(*this, getExperts(), getInput()))) // C3
    return failure();
  if (!agree(shapeOf(getInput()).drop_back(),
             shapeOf(getResult()).drop_back())) // C3
    return mismatch(*this, "input", shapeOf(getInput()), "result",
                    shapeOf(getResult()));
  if (getTransposed() && getBias()) // C2
    return emitOpError() << "is transposed but has bias " << getBiasAttr();
  return verifyFinite(*this, "scale", getScale().convertToDouble()); // C4
}

LogicalResult LinearOp::verifySymbolUses(SymbolTableCollection &tables) {
  SmallVector<int64_t> weight{channelsOf(getResult()), channelsOf(getInput())};
  if (getTransposed())
    std::swap(weight.front(), weight.back());
  return verifyLinearShapes(*this, getWeightAttr(), // C1
                            getBiasAttr(), weight,  // C2
                            channelsOf(getResult()), bool(getExperts()),
                            tables);
}

LogicalResult LinearByHeadOp::verify() {
  const int64_t heads = getHeads(), inner = channelsOf(getInput()),
                columns = channelsOf(getResult());
  if (heads < 1 || inner % heads || columns % heads) // C1
    return emitOpError() << "heads is " << heads << " but input has " << inner
                         << " channels and the result " << columns;
  if (agree(shapeOf(getInput()).drop_back(),
            shapeOf(getResult()).drop_back())) // C2
    return success();
  return mismatch(*this, "input", shapeOf(getInput()), "result",
                  shapeOf(getResult()));
}

LogicalResult LinearByHeadOp::verifySymbolUses(SymbolTableCollection &tables) {
  const int64_t heads = getHeads();
  return verifyShapeOf(
      *this, "weight", getWeightAttr(),
      {heads, channelsOf(getResult()) / heads, channelsOf(getInput()) / heads},
      tables); // C3
}

LogicalResult SoftcapOp::verify() {
  double cap = getCap().convertToDouble();
  if (std::isfinite(cap) && cap > 0) // C1
    return success();
  return emitOpError() << "cap is " << formatDouble(cap)
                       << " but must be finite and > 0";
}

namespace {

// Of pool and of its gradient: `tokens` are what the one reads and the other
// makes, `pooled` has a row per sequence.
template <typename Op>
LogicalResult verifyPool(Op op, Value tokens, Value pooled) {
  ArrayRef<int64_t> input = shapeOf(tokens), result = shapeOf(pooled);
  if (input.size() != 3 || result.size() != 2 ||
      !agree({input[0], input[2]}, result)) // C1
    return mismatch(op, "input", input, "result", result);
  if (Value mask = op.getKeyMask())
    if (!agree(shapeOf(mask), input.drop_back())) // C2
      return mismatch(op, "key_mask", shapeOf(mask), "input", input);
  if (Value ids = op.getIds())
    if (!agree(shapeOf(ids), input.drop_back())) // C2
      return mismatch(op, "ids", shapeOf(ids), "input", input);
  bool byId =
      op.getKind() == Pool::first_id || op.getKind() == Pool::highest_id;
  if (byId != bool(op.getIds())) // C3
    return op.emitOpError() << "pools by " << stringifyPool(op.getKind())
                            << " but has " << (byId ? "no ids" : "ids");
  bool skips = op.getKind() == Pool::first || op.getKind() == Pool::mean;
  if (int64_t(op.getSkip()) < 0 || (op.getSkip() != 0 && !skips)) // C4
    return op.emitOpError() << "skip is " << int64_t(op.getSkip()) << " for "
                            << stringifyPool(op.getKind());
  if (!ShapedType::isDynamic(input[1]) &&
      int64_t(op.getSkip()) >= input[1]) // C4
    return op.emitOpError() << "skip is " << int64_t(op.getSkip())
                            << " but there are " << input[1] << " tokens";
  return success();
}

} // namespace

LogicalResult PoolOp::verify() {
  return verifyPool(*this, getInput(), getResult());
}

LogicalResult PoolGradientOp::verify() {
  return verifyPool(*this, getLike(), getGradient());
}

LogicalResult KeepOp::verify() {
  if (int64_t(getIndex()) >= 0) // C1
    return success();
  return emitOpError() << "index is " << int64_t(getIndex())
                       << " but must be >= 0";
}
