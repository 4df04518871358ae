// Verifiers of biases by table, of experts, and of what moves tokens about, one
// `// Cn` per labelled constraint.
#include "dialects/transformer/Symbols.h"

#include <cmath>

using namespace mlir;
using namespace mille::transformer;

namespace {

constexpr int64_t anyExtent = ShapedType::kDynamic;

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

bool agree(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return succeeded(verifyCompatibleShape(a, b));
}

LogicalResult expect(Operation *op, StringRef name, Value value,
                     ArrayRef<int64_t> shape) {
  if (agree(shapeOf(value), shape))
    return success();
  return op->emitOpError() << name << " is " << shapeText(shapeOf(value))
                           << " but must be " << shapeText(shape);
}

LogicalResult expectFinite(Operation *op, StringRef name, double value) {
  if (std::isfinite(value))
    return success();
  return op->emitOpError() << name << " is " << formatDouble(value)
                           << " but must be finite";
}

// A bias's shape: [batch, heads, query tokens, key tokens].
LogicalResult expectBias(Operation *op, Value result) {
  if (shapeOf(result).size() == 4 && !ShapedType::isDynamic(shapeOf(result)[1]))
    return success();
  return op->emitOpError() << "result is " << shapeText(shapeOf(result))
                           << " but must be [batch, heads, tokens, tokens]";
}

// Every entry is a row of the table, which has `columns` columns.
LogicalResult verifyRowsOf(Operation *op, StringRef name,
                           ArrayRef<int64_t> rows, FlatSymbolRefAttr table,
                           int64_t columns, SymbolTableCollection &tables) {
  int64_t least = rows.empty() ? 0 : *llvm::min_element(rows),
          most = rows.empty() ? -1 : *llvm::max_element(rows);
  if (failed(verifyShapeOf(op, "table", table, {-1, columns}, tables)))
    return failure();
  auto type = dyn_cast_or_null<TypeAttr>(resolveSymbol(op, table, tables).meaning);
  if (!type)
    return success(); // a fragment
  int64_t entries = cast<RankedTensorType>(type.getValue()).getDimSize(0);
  if (least >= 0 && most < entries)
    return success();
  return op->emitOpError() << name << " has entries from " << least << " to "
                           << most << " but table " << table << " has "
                           << entries << " rows";
}

LogicalResult expectOdd(Operation *op, size_t buckets) {
  if (buckets % 2)
    return success();
  return op->emitOpError() << "buckets has " << buckets
                           << " entries but must have an odd number";
}

} // namespace

LogicalResult DistanceBiasOp::verify() {
  if (failed(expectOdd(*this, getBuckets().size()))) // C1
    return failure();
  return expectBias(*this, getResult()); // C3
}

LogicalResult DistanceBiasOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyRowsOf(*this, "buckets", getBuckets(), getTableAttr(), // C1 C2
                      shapeOf(getResult())[1], tables);
}

LogicalResult PairBiasOp::verify() {
  if (failed(expectBias(*this, getResult()))) // C3
    return failure();
  int64_t n = shapeOf(getResult())[2];
  if (ShapedType::isDynamic(n) || shapeOf(getResult())[3] != n) // C3
    return emitOpError() << "result is " << shapeText(shapeOf(getResult()))
                         << " but must be [batch, heads, n, n]";
  if (int64_t(getIndex().size()) != n * n) // C1
    return emitOpError() << "index has " << getIndex().size()
                         << " entries but there are " << n << " tokens";
  return success();
}

LogicalResult PairBiasOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyRowsOf(*this, "index", getIndex(), getTableAttr(), // C1 C2
                      shapeOf(getResult())[1], tables);
}

LogicalResult ContentBiasOp::verify() {
  if (failed(expectOdd(*this, getBuckets().size())) || // C1
      failed(expectBias(*this, getResult())))          // C3
    return failure();
  int64_t channels = shapeOf(getInput()).back(), heads = shapeOf(getResult())[1];
  if (channels % heads) // C3
    return emitOpError() << "input has " << channels << " channels but there are "
                         << heads << " heads";
  return expectFinite(*this, "factor", getFactor().convertToDouble()); // C4
}

LogicalResult ContentBiasOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyRowsOf(*this, "buckets", getBuckets(), getTableAttr(), // C1 C2
                      shapeOf(getInput()).back(), tables);
}

//===-- Experts -------------------------------------------------------------===//

LogicalResult RouteOp::verify() {
  int64_t entries = shapeOf(getLogits()).back(), k = getK(),
          groups = getGroups(), top = getTopGroups();
  if (k <= 0 || k > entries) // C1
    return emitOpError() << "k is " << k << " but there are " << entries
                         << " experts";
  if (groups <= 0 || entries % groups) // C1
    return emitOpError() << "groups is " << groups << " but must divide the "
                         << entries << " experts";
  if (top <= 0 || top > groups || top * (entries / groups) < k) // C1
    return emitOpError() << "top_groups is " << top << " of " << groups
                         << " groups, but k is " << k << " of " << entries
                         << " experts";
  auto shape = llvm::to_vector(shapeOf(getLogits()));
  shape.back() = k;
  if (failed(expect(*this, "experts", getExperts(), shape)) || // C2
      failed(expect(*this, "weights", getWeights(), shape)))   // C2
    return failure();
  double epsilon = getEpsilon().convertToDouble();
  if (!std::isfinite(epsilon) || epsilon < 0) // C4
    return emitOpError() << "epsilon is " << formatDouble(epsilon)
                         << " but must be finite and >= 0";
  return expectFinite(*this, "factor", getFactor().convertToDouble()); // C4
}

LogicalResult RouteOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyShapeOf(*this, "selection_bias", getSelectionBiasAttr(), // C3
                       {shapeOf(getLogits()).back()}, tables);
}

namespace {

// `wide` is [batch, tokens, k, channels] where `narrow` is without k, and
// `perSlot` (may be null) is [batch, tokens, k].
LogicalResult expectSlots(Operation *op, Value wide, Value narrow,
                          StringRef name, Value perSlot) {
  ArrayRef<int64_t> shape = shapeOf(wide), without = shapeOf(narrow);
  if (shape.size() != 4 ||
      !agree({shape[0], shape[1], shape[3]}, without))
    return op->emitOpError() << "goes between " << shapeText(without) << " and "
                             << shapeText(shape)
                             << " but must add a dimension before the channels";
  return perSlot ? expect(op, name, perSlot, shape.drop_back()) : success();
}

} // namespace

LogicalResult DispatchOp::verify() {
  if (failed(expectSlots(*this, getResult(), getInput(), "experts", // C1
                         getExperts())))
    return failure();
  return expectSlots(*this, getResult(), getInput(), "weights", getWeights()); // C2
}

LogicalResult CombineOp::verify() {
  return expectSlots(*this, getInput(), getResult(), "weights", // C1 C2
                     getWeights());
}

//===-- Tokens and pixels ---------------------------------------------------===//

LogicalResult PatchesOp::verify() {
  ArrayRef<int64_t> pixels = shapeOf(getPixels());
  if ((pixels.size() != 3 && pixels.size() != 4) ||
      llvm::any_of(pixels.drop_front(), ShapedType::isDynamic)) // C1
    return emitOpError() << "pixels are " << shapeText(pixels)
                         << " but must be [batch, c, h, w] or [batch, c, w], all "
                            "but batch fixed";
  for (auto [name, pair, least] :
       {std::tuple<StringRef, ArrayRef<int64_t>, int64_t>{"kernel", getKernel(), 1},
        {"stride", getStride(), 1}, {"padding", getPadding(), 0}})
    if (pair.size() != 2 || pair[0] < least || pair[1] < least) // C2
      return emitOpError() << name << " must be two numbers >= " << least;
  if (int64_t(getPrefix()) < 0)
    return emitOpError() << "prefix is " << int64_t(getPrefix())
                         << " but must be >= 0";
  int64_t tokens = 1;
  for (unsigned axis : {0, 1}) {
    int64_t extent = pixels.size() == 4 ? pixels[2 + axis]
                     : axis             ? pixels[2]
                                        : 1;
    int64_t room = extent + 2 * getPadding()[axis] - getKernel()[axis];
    if (room < 0) // C3
      return emitOpError() << "kernel is " << getKernel()[axis]
                           << " but the image has " << extent << " pixels";
    tokens *= room / getStride()[axis] + 1;
  }
  return expect(*this, "result", getResult(), // C3
                {anyExtent, int64_t(getPrefix()) + tokens,
                 pixels[1] * getKernel()[0] * getKernel()[1]});
}

LogicalResult GatherTokensOp::verify() {
  ArrayRef<int64_t> input = shapeOf(getInput()), result = shapeOf(getResult());
  int64_t group = getGroup();
  if (input.size() != 3 || result.size() != 3 || ShapedType::isDynamic(input[1]) ||
      ShapedType::isDynamic(result[1])) // C1
    return emitOpError() << "goes from " << shapeText(input) << " to "
                         << shapeText(result)
                         << " but both must be [batch, tokens, channels] with "
                            "fixed tokens";
  if (group <= 0 || int64_t(getIndex().size()) != result[1] * group) // C1
    return emitOpError() << "index has " << getIndex().size()
                         << " entries but the result has " << result[1]
                         << " tokens of " << group;
  for (int64_t token : getIndex())
    if (token < -1 || token >= input[1]) // C1
      return emitOpError() << "index names token " << token << " of " << input[1];
  return expect(*this, "result", getResult(), {anyExtent, anyExtent, group * input[2]}); // C2
}

LogicalResult TokenNumbersOp::verify() {
  return expect(*this, "result", getResult(), // C1
                {anyExtent, int64_t(getNumbers().size())});
}

LogicalResult ConstantOp::verifySymbolUses(SymbolTableCollection &tables) {
  ArrayRef<int64_t> shape = shapeOf(getResult());
  if (shape.size() != 3) // C1
    return emitOpError() << "result is " << shapeText(shape)
                         << " but must be [batch, n, channels]";
  return verifyShapeOf(*this, "value", getValueAttr(), shape.drop_front(), tables); // C1
}

LogicalResult SimilarityOp::verify() {
  ArrayRef<int64_t> left = shapeOf(getLeft()), right = shapeOf(getRight());
  if (left.size() != 2 || right.size() != 2 || left[1] != right[1] ||
      shapeOf(getResult()).size() != 2) // C1
    return emitOpError() << "left is " << shapeText(left) << ", right is "
                         << shapeText(right) << " and the result is "
                         << shapeText(shapeOf(getResult()))
                         << " but they must be [batch, c], [batch, c] and "
                            "[batch, batch]";
  return success();
}

//===-- Elements ------------------------------------------------------------===//

LogicalResult AffineOp::verifySymbolUses(SymbolTableCollection &tables) {
  for (auto [name, scale] :
       {std::pair<StringRef, ScaleAttr>{"scale", getScaleAttr()},
        {"shift", getShiftAttr()}}) {
    if (!scale || !scale.getSymbol() || scale.getKind() == ScaleKind::constant)
      continue;
    int64_t extent = scale.getKind() == ScaleKind::learned_scalar
                         ? 1
                         : shapeOf(getInput()).back();
    if (failed(verifyShapeOf(*this, name, scale.getSymbol(), {extent}, tables))) // C1
      return failure();
  }
  return success();
}

LogicalResult ClampOp::verify() {
  double low = getLow().convertToDouble(), high = getHigh().convertToDouble();
  if (low < high) // C1
    return success();
  return emitOpError() << "low is " << formatDouble(low) << " and high "
                       << formatDouble(high) << " but low must be < high";
}
