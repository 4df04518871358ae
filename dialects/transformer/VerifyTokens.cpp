// Verifiers of biases by table, of experts, and of ops that move tokens, one
// `// Cn` per labelled constraint.
#include "dialects/transformer/Sizes.h"
#include "dialects/transformer/State.h"
#include "dialects/transformer/Symbols.h"
#include "dialects/transformer/VerifyShapes.h"

#include <cmath>

using namespace mlir;
using namespace mille::transformer;
using mille::extentText;
using mille::shapeText;

namespace {

constexpr int64_t anyExtent = ShapedType::kDynamic;

// Checks that a value has the shape `shape`, with the same fixed extents after
// the batch.
LogicalResult expect(Operation *op, StringRef name, Value value,
                     ArrayRef<int64_t> shape) {
  bool fits = agree(shapeOf(value), shape);
  for (size_t i = 1; fits && i < shape.size(); ++i)
    fits = ShapedType::isDynamic(shape[i]) || shapeOf(value)[i] == shape[i];
  if (fits)
    return success();
  return op->emitOpError() << name << " is " << shapeText(shapeOf(value))
                           << " but must be " << shapeText(shape);
}

// A bias's shape: [batch, heads, query tokens, key tokens].
LogicalResult expectBias(Operation *op, Value result) {
  if (shapeOf(result).size() == 4 && shapeOf(result)[1] > 0) // dynamic is < 0
    return success();
  return op->emitOpError() << "result is " << shapeText(shapeOf(result))
                           << " but must be [batch, heads, tokens, tokens]";
}

// Checks that every entry is a row of the table, which has `columns` columns.
LogicalResult verifyRowsOf(Operation *op, StringRef name,
                           ArrayRef<int64_t> rows, FlatSymbolRefAttr table,
                           int64_t columns, SymbolTableCollection &tables) {
  int64_t least = rows.empty() ? 0 : *llvm::min_element(rows),
          most = rows.empty() ? -1 : *llvm::max_element(rows);
  if (failed(verifyShapeOf(op, "table", table, {-1, columns}, tables))) // C2
    return failure();
  auto type =
      dyn_cast_or_null<TypeAttr>(resolveSymbol(op, table, tables).meaning);
  if (!type)
    return success(); // a fragment
  int64_t entries = cast<RankedTensorType>(type.getValue()).getDimSize(0);
  if (least >= 0 && most < entries)
    return success();
  return op->emitOpError() << name << " has entries from " << least
                           << " to " // C1
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
  return verifyRowsOf(*this, "buckets", getBuckets(), getTableAttr(),
                      shapeOf(getResult())[1], tables);
}

LogicalResult PairBiasOp::verify() {
  if (failed(expectBias(*this, getResult()))) // C3
    return failure();
  int64_t n = shapeOf(getResult())[2];
  if (n <= 0 || shapeOf(getResult())[3] != n) // C3; dynamic is < 0
    return emitOpError() << "result is " << shapeText(shapeOf(getResult()))
                         << " but must be [batch, heads, n, n]";
  int64_t pairs;
  if (__builtin_mul_overflow(n, n, &pairs) ||
      int64_t(getIndex().size()) != pairs) // C1
    return emitOpError() << "index has " << getIndex().size()
                         << " entries but there are " << n << " * " << n
                         << " pairs";
  return success();
}

LogicalResult PairBiasOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyRowsOf(*this, "index", getIndex(), getTableAttr(),
                      shapeOf(getResult())[1], tables);
}

LogicalResult BiasGradientOp::verify() {
  ArrayRef<int64_t> shape = shapeOf(getGradient());
  if (bool(getBuckets()) == bool(getIndex())) // C1
    return emitOpError("must have either buckets or index");
  if (failed(expectBias(*this, getGradient()))) // C1
    return failure();
  if (getBuckets())
    return expectOdd(*this, getBuckets()->size()); // C1
  int64_t pairs;
  if (shape[2] > 0 && shape[3] == shape[2] &&
      !__builtin_mul_overflow(shape[2], shape[2], &pairs) &&
      int64_t(getIndex()->size()) == pairs) // C1
    return success();
  return emitOpError() << "index has " << getIndex()->size()
                       << " entries but gradient is " << shapeText(shape);
}

LogicalResult BiasGradientOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyRowsOf(*this, getBuckets() ? "buckets" : "index",
                      getBuckets() ? *getBuckets() : *getIndex(),
                      getTableAttr(), shapeOf(getGradient())[1], tables); // C2
}

LogicalResult ContentBiasOp::verify() {
  if (failed(expectOdd(*this, getBuckets().size())) || // C1
      failed(expectBias(*this, getResult())))          // C3
    return failure();
  int64_t channels = shapeOf(getInput()).back(),
          heads = shapeOf(getResult())[1];
  if (ShapedType::isDynamic(channels) || channels % heads) // C3
    return emitOpError() << "input has " << extentText(channels)
                         << " channels but there are " << heads << " heads";
  return verifyFinite(*this, "factor", getFactor().convertToDouble()); // C4
}

LogicalResult ContentBiasOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyRowsOf(*this, "buckets", getBuckets(), getTableAttr(),
                      shapeOf(getInput()).back(), tables);
}

// A number of [batch, keys, channels] for each key and some heads.
static bool isByKeyAndHead(ArrayRef<int64_t> numbers, ArrayRef<int64_t> bias) {
  return bias.size() == 4 && numbers.size() == 3 && bias[1] > 0 &&
         numbers[2] > 0 && bias[1] % numbers[2] == 0 && // dynamic is < 0
         numbers[0] == bias[0] && numbers[1] == bias[3];
}

LogicalResult KeyHeadBiasOp::verify() {
  ArrayRef<int64_t> input = shapeOf(getInput()), shape = shapeOf(getResult());
  if (isByKeyAndHead(input, shape)) // C1
    return success();
  return emitOpError() << "input is " << shapeText(input) << " but result is "
                       << shapeText(shape);
}

LogicalResult KeyHeadGradientOp::verify() {
  ArrayRef<int64_t> gradient = shapeOf(getGradient()),
                    result = shapeOf(getResult());
  if (isByKeyAndHead(result, gradient)) // C1
    return success();
  return emitOpError() << "gradient is " << shapeText(gradient)
                       << " but result is " << shapeText(result);
}

LogicalResult CountTokensOp::verify() {
  if (int64_t(getFirst()) < 0) // C1
    return emitOpError() << "first is " << int64_t(getFirst())
                         << " but must be >= 0";
  if (Value past = getPast();
      past && failed(verifyPast(*this, past, shapeOf(getIds())[0]))) // C2
    return failure();
  if (int64_t(getEach()) > 0) // C1
    return success();
  return emitOpError() << "each is " << int64_t(getEach())
                       << " but must be > 0";
}

//===-- Experts -----------------------------------------------------------===//

LogicalResult mille::transformer::verifyChoice(Operation *op, int64_t entries,
                                               int64_t k, int64_t groups,
                                               int64_t top) {
  if (k <= 0 || k > entries) // C1; a dynamic number of experts is < 0
    return op->emitOpError() << "k is " << k << " but there are "
                             << extentText(entries) << " experts";
  if (groups <= 0 || entries % groups) // C1
    return op->emitOpError()
           << "groups is " << groups << " but must divide the " << entries
           << " experts";
  if (top <= 0 || top > groups || top * (entries / groups) < k) // C1
    return op->emitOpError()
           << "top_groups is " << top << " of " << groups
           << " groups, but k is " << k << " of " << entries << " experts";
  return success();
}

LogicalResult RouteOp::verify() {
  int64_t entries = shapeOf(getLogits()).back(), k = getK();
  if (failed(
          verifyChoice(*this, entries, k, getGroups(), getTopGroups()))) // C1
    return failure();
  auto shape = llvm::to_vector(shapeOf(getLogits()));
  shape.back() = k;
  if (failed(expect(*this, "experts", getExperts(), shape)) || // C2
      failed(expect(*this, "weights", getWeights(), shape)))   // C2
    return failure();
  double epsilon = getEpsilon().convertToDouble();
  if (!std::isfinite(epsilon) || epsilon < 0) // C4
    return emitOpError() << "epsilon is " << formatDouble(epsilon)
                         << " but must be finite and >= 0";
  return verifyFinite(*this, "factor", getFactor().convertToDouble()); // C4
}

LogicalResult RouteOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyShapeOf(*this, "selection_bias", getSelectionBiasAttr(), // C3
                       {shapeOf(getLogits()).back()}, tables);
}

namespace {

// Checks that `wide` is [batch, tokens, k, channels], `narrow` is [batch,
// tokens, channels], and `perSlot` (may be null) is [batch, tokens, k].
LogicalResult expectSlots(Operation *op, Value wide, Value narrow,
                          StringRef name, Value perSlot) {
  ArrayRef<int64_t> shape = shapeOf(wide), without = shapeOf(narrow);
  if (shape.size() != 4 || shape[2] <= 0 ||
      !agree({shape[0], shape[1], shape[3]}, without)) // C1
    return op->emitOpError() << "goes between " << shapeText(without) << " and "
                             << shapeText(shape)
                             << " but must add a fixed dimension before the "
                                "channels";
  return perSlot ? expect(op, name, perSlot, shape.drop_back()) : success();
}

} // namespace

LogicalResult DispatchOp::verify() {
  if (failed(expectSlots(*this, getResult(), getInput(), "experts", // C1
                         getExperts())))
    return failure();
  return expectSlots(*this, getResult(), getInput(), "weights",
                     getWeights()); // C2
}

LogicalResult CombineOp::verify() {
  return expectSlots(*this, getInput(), getResult(), "weights", // C2
                     getWeights());
}

//===-- Tokens and pixels -------------------------------------------------===//

namespace {

// The number of kernel positions along an extent. Nothing if a size overflows;
// 0 if the kernel is larger than the padded extent.
std::optional<int64_t> placesOf(int64_t extent, int64_t kernel, int64_t stride,
                                int64_t padding) {
  int64_t room;
  if (__builtin_mul_overflow(padding, 2, &room) ||
      __builtin_add_overflow(room, extent, &room))
    return std::nullopt;
  return room < kernel ? 0 : (room - kernel) / stride + 1;
}

} // namespace

FailureOr<PatchGrid> mille::transformer::verifyPatches(
    Operation *op, ArrayRef<int64_t> image, ArrayRef<int64_t> kernel,
    ArrayRef<int64_t> stride, ArrayRef<int64_t> padding, int64_t prefix) {
  for (auto [name, pair, least] :
       {std::tuple<StringRef, ArrayRef<int64_t>, int64_t>{"kernel", kernel, 1},
        {"stride", stride, 1},
        {"padding", padding, 0}})
    if (pair.size() != 2 || pair[0] < least || pair[1] < least) // C2
      return op->emitOpError() << name << " must be two numbers >= " << least;
  if (prefix < 0) // C2
    return op->emitOpError() << "prefix is " << prefix << " but must be >= 0";
  PatchGrid grid{1, image[0]};
  bool tooLarge = false;
  for (unsigned axis : {0, 1}) {
    auto places =
        placesOf(image[1 + axis], kernel[axis], stride[axis], padding[axis]);
    if (places && *places == 0) // C3
      return op->emitOpError()
             << "kernel is " << kernel[axis] << " but the image has "
             << image[1 + axis] << " pixels";
    tooLarge |=
        !places || __builtin_mul_overflow(grid.tokens, *places, &grid.tokens) ||
        __builtin_mul_overflow(grid.channels, kernel[axis], &grid.channels);
  }
  if (tooLarge ||
      __builtin_add_overflow(grid.tokens, prefix, &grid.tokens)) // C3
    return op->emitOpError("has more patches than any memory");
  return grid;
}

LogicalResult GatherTokensOp::verify() {
  ArrayRef<int64_t> input = shapeOf(getInput()), result = shapeOf(getResult());
  int64_t group = getGroup();
  if (input.size() != 3 || result.size() != 3 ||
      ShapedType::isDynamic(input[1]) || ShapedType::isDynamic(result[1])) // C1
    return emitOpError() << "goes from " << shapeText(input) << " to "
                         << shapeText(result)
                         << " but both must be [batch, tokens, channels] with "
                            "fixed tokens";
  int64_t named, parts, channels;
  if (group <= 0 || __builtin_mul_overflow(result[1], group, &named) ||
      int64_t(getIndex().size()) != named) // C1
    return emitOpError() << "index has " << getIndex().size()
                         << " entries but the result has " << result[1]
                         << " tokens of " << group;
  const int64_t each = getParts();
  if (each <= 0 || input[2] % each) // C2
    return emitOpError() << "has " << each << " parts but the input has "
                         << extentText(input[2]) << " channels";
  if (__builtin_mul_overflow(input[1], each, &parts)) // C1
    return emitOpError() << "has tokens of " << each << " parts";
  for (int64_t part : getIndex())
    if (part < -1 || part >= parts) // C1
      return emitOpError() << "index names token " << part << " of " << parts;
  if (ShapedType::isDynamic(input[2]) ||
      __builtin_mul_overflow(group, input[2] / each, &channels)) // C2
    return emitOpError() << "joins " << group << " tokens of "
                         << extentText(input[2]) << " channels";
  return expect(*this, "result", getResult(),
                {input[0], result[1], channels}); // C2
}

LogicalResult TokenNumbersOp::verify() {
  for (auto [index, number] : llvm::enumerate(getNumbers()))
    if (!llvm::isInt<32>(number)) // C1
      return emitOpError() << "numbers[" << index << "] is " << number
                           << " but must fit i32";
  return expect(*this, "result", getResult(), // C1
                {anyExtent, int64_t(getNumbers().size())});
}

LogicalResult ConstantOp::verifySymbolUses(SymbolTableCollection &tables) {
  ArrayRef<int64_t> shape = shapeOf(getResult());
  if (shape.size() != 3) // C1
    return emitOpError() << "result is " << shapeText(shape)
                         << " but must be [batch, n, channels]";
  return verifyShapeOf(*this, "value", getValueAttr(), shape.drop_front(),
                       tables); // C1
}

LogicalResult SimilarityOp::verify() {
  ArrayRef<int64_t> left = shapeOf(getLeft()), right = shapeOf(getRight());
  if (left.size() != 2 || right.size() != 2 || left[1] != right[1] ||
      !agree(shapeOf(getResult()), {left[0], right[0]})) // C1
    return emitOpError() << "left is " << shapeText(left) << ", right is "
                         << shapeText(right) << " and the result is "
                         << shapeText(shapeOf(getResult()))
                         << " but they must be [batch, c], [batch, c] and "
                            "[batch, batch]";
  return success();
}

//===-- Elements ----------------------------------------------------------===//

LogicalResult AffineOp::verifySymbolUses(SymbolTableCollection &tables) {
  int64_t channels = shapeOf(getInput()).back();
  if (failed(verifyScaleOf(*this, "scale", getScaleAttr(), channels,
                           tables))) // C1
    return failure();
  return verifyScaleOf(*this, "shift", getShiftAttr(), channels, tables); // C2
}

LogicalResult ClampOp::verify() {
  double low = getLow().convertToDouble(), high = getHigh().convertToDouble();
  if (low < high) // C1
    return success();
  return emitOpError() << "low is " << formatDouble(low) << " and high "
                       << formatDouble(high) << " but low must be < high";
}
