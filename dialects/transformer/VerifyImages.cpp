// Grids of images, and the verifiers of ops that read an image's sizes, one
// `// Cn` per labelled constraint.
#include "dialects/transformer/Grid.h"
#include "dialects/transformer/Sizes.h"
#include "dialects/transformer/Symbols.h"
#include "dialects/transformer/VerifyShapes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <cmath>

using namespace mlir;
using namespace mille::transformer;
using mille::shapeText;
using EmitError = llvm::function_ref<InFlightDiagnostic()>;

GridAttr mille::transformer::gridOf(Value pixels) {
  auto argument = dyn_cast<BlockArgument>(pixels);
  auto entry =
      argument
          ? dyn_cast_or_null<func::FuncOp>(argument.getOwner()->getParentOp())
          : func::FuncOp();
  return entry ? entry.getArgAttrOfType<GridAttr>(argument.getArgNumber(),
                                                  "transformer.grid")
               : GridAttr();
}

StringRef mille::transformer::sideOf(BlockArgument pixels, unsigned axis) {
  auto entry = cast<func::FuncOp>(pixels.getOwner()->getParentOp());
  auto shape = entry.getArgAttrOfType<ShapeAttr>(pixels.getArgNumber(),
                                                 "transformer.shape");
  return cast<StringAttr>(shape.getExtents()[2 + axis]).getValue();
}

static StringRef placesOf(GridAttr grid, ArrayRef<int64_t> side, int64_t size) {
  const int64_t pixels[] = {side[0] * size, side[1] * size};
  return grid.getTokensOf(pixels, size * size);
}

StringRef mille::transformer::movedTokens(Operation *op) {
  if (auto segments = dyn_cast<WindowSegmentsOp>(op))
    return placesOf(gridOf(segments.getPixels()), segments.getSide(),
                    segments.getSize());
  auto move = dyn_cast<MovePatchesOp>(op);
  if (!move)
    return "";
  GridAttr grid = gridOf(move.getPixels());
  ArrayRef<int64_t> side = move.getSide();
  if (move.getMove() == Move::into_windows)
    return placesOf(grid, side, move.getSize());
  const int64_t twice[] = {2 * side[0], 2 * side[1]};
  return grid.getTokensOf(
      move.getMove() == Move::merge ? ArrayRef<int64_t>(twice) : side, 1);
}

StringRef mille::transformer::readTokens(MovePatchesOp op) {
  GridAttr grid = gridOf(op.getPixels());
  return op.getMove() == Move::out_of_windows
             ? placesOf(grid, op.getSide(), op.getSize())
             : grid.getTokensOf(op.getSide(), 1);
}

StringRef GridAttr::getTokensOf(ArrayRef<int64_t> side, int64_t each) const {
  if (each == 1 && side == getPatch() && getPrefix() == 0)
    return getTokens();
  for (PartAttr part : getParts())
    if (part.getSide() == side && part.getEach() == each)
      return part.getTokens();
  return "";
}

static bool isCount(int64_t number) {
  return number >= 1 && number <= INT32_MAX;
}

static LogicalResult verifyName(EmitError emitError, StringRef tokens) {
  if (!tokens.empty() && !llvm::isDigit(tokens[0]) &&
      llvm::all_of(tokens, [](char c) { return llvm::isAlnum(c) || c == '_'; }))
    return success();
  return emitError() << "tokens is \"" << tokens
                     << "\" but must be the name of a size";
}

LogicalResult PartAttr::verify(EmitError emitError, StringRef tokens,
                               ArrayRef<int64_t> side, int64_t each) {
  if (side.size() != 2 || !isCount(side[0]) || !isCount(side[1]) ||
      !isCount(each)) // C1
    return emitError() << "side is " << shapeText(side) << " and each " << each
                       << " but all must be from 1 to 2147483647";
  return verifyName(emitError, tokens); // C2
}

// Checks the parts and the smallest image of a grid.
static LogicalResult verifyParts(EmitError emitError, StringRef tokens,
                                 ArrayRef<int64_t> patch, ArrayRef<int64_t> own,
                                 int64_t prefix, ArrayRef<PartAttr> parts,
                                 ArrayRef<int64_t> least) {
  if (!parts.empty() &&
      (prefix || own[0] % patch[0] || own[1] % patch[1])) // C3
    return emitError() << "own is " << shapeText(own) << " and prefix "
                       << prefix << " but parts need whole patches of "
                       << shapeText(patch) << " and no prefix";
  llvm::StringSet<> names;
  names.insert(tokens);
  for (PartAttr part : parts)
    if (!names.insert(part.getTokens()).second) // C3
      return emitError() << "parts have \"" << part.getTokens() << "\" twice";
  if (least.empty())
    return success();
  if (least.size() != 2) // C4
    return emitError() << "least is " << shapeText(least)
                       << " but must be two numbers";
  for (unsigned axis : {0, 1})
    if (least[axis] < patch[axis] || least[axis] > own[axis]) // C4
      return emitError() << "least is " << least[axis] << " but must be from "
                         << patch[axis] << " to " << own[axis];
  return success();
}

LogicalResult GridAttr::verify(EmitError emitError, StringRef tokens,
                               ArrayRef<int64_t> patch, ArrayRef<int64_t> own,
                               int64_t prefix, ArrayRef<PartAttr> parts,
                               ArrayRef<int64_t> least) {
  if (patch.size() != 2 || own.size() != 2) // C1
    return emitError() << "patch is " << shapeText(patch) << " and own "
                       << shapeText(own) << " but both must be two numbers";
  for (unsigned axis : {0, 1}) {
    if (patch[axis] < 1 || own[axis] < patch[axis]) // C1
      return emitError() << "patch is " << patch[axis] << " but must be from 1 "
                         << "to own, which is " << own[axis];
    if (own[axis] > INT32_MAX) // C1
      return emitError() << "own is " << own[axis]
                         << " but must be below 2147483648";
  }
  if (prefix < 0 || prefix > INT32_MAX) // C1
    return emitError() << "prefix is " << prefix
                       << " but must be from 0 to 2147483647";
  if (failed(verifyName(emitError, tokens))) // C2
    return failure();
  return verifyParts(emitError, tokens, patch, own, prefix, parts, // C3, C4
                     least);
}

namespace {

// Checks the tokens of an op that moves them, and its result of `columns`
// columns (0: ids), which has the tokens of a part of the grid.
template <typename Op>
LogicalResult verifyMoved(Op op, bool hasWindows, int64_t scale, int64_t each,
                          ArrayRef<int64_t> columns) {
  GridAttr grid = gridOf(op.getPixels());
  if (!grid) // C1
    return op.emitOpError()
           << "pixels are " << shapeText(shapeOf(op.getPixels()))
           << " but are no input with transformer.grid";
  ArrayRef<int64_t> side = op.getSide();
  if (side.size() != 2 || side[0] < 1 || side[1] < 1 || side[0] > INT16_MAX ||
      side[1] > INT16_MAX) // C2
    return op.emitOpError() << "side is " << shapeText(side)
                            << " but must be two numbers from 1 to 32767";
  const int64_t size = op.getSize(), shift = op.getShift();
  if (hasWindows ? size < 1 || size > INT16_MAX || shift < 0 || shift >= size
                 : size || shift) // C2
    return op.emitOpError() << "size is " << size << " and shift " << shift
                            << (hasWindows ? " but 0 <= shift < size < 32768"
                                           : " but merge has neither");
  const int64_t wanted[] = {side[0] * scale, side[1] * scale};
  if (grid.getTokensOf(wanted, each).empty()) // C3
    return op.emitOpError()
           << "has " << each << " tokens for each " << shapeText(wanted)
           << " pixels but the grid has no such part";
  SmallVector<int64_t> shape{ShapedType::kDynamic, ShapedType::kDynamic};
  llvm::append_range(shape, columns);
  if (shapeOf(op.getResult()) == ArrayRef<int64_t>(shape)) // C4
    return success();
  return op.emitOpError() << "result is " << shapeText(shapeOf(op.getResult()))
                          << " but must be " << shapeText(shape);
}

// Checks that an image of run-time sides has a grid with this patch and prefix.
LogicalResult verifyGrid(Operation *op, Value pixels, ArrayRef<int64_t> patch,
                         int64_t prefix) {
  GridAttr grid = gridOf(pixels);
  if (!grid) // C1
    return op->emitOpError() << "pixels are " << shapeText(shapeOf(pixels))
                             << " but are no input with transformer.grid";
  if (grid.getPatch() == patch && grid.getPrefix() == prefix)
    return success();
  return op->emitOpError() << "patch is " << shapeText(patch) // C1
                           << " and prefix " << prefix << " but the input has "
                           << grid;
}

// Checks pixels [batch, c, h, w] and the result of `channels` channels.
template <typename Op> LogicalResult verifyImage(Op op, int64_t channels) {
  ArrayRef<int64_t> pixels = shapeOf(op.getPixels()),
                    result = shapeOf(op.getResult());
  if (pixels.size() != 4 || pixels[1] <= 0 ||
      ShapedType::isDynamic(pixels[2]) !=
          ShapedType::isDynamic(pixels[3])) // C1
    return op.emitOpError() << "pixels are " << shapeText(pixels)
                            << " but must be [batch, c, h, w], c fixed";
  ArrayRef<int64_t> patch = op.getPatch();
  const int64_t prefix = op.getPrefix();
  if (patch.size() != 2 || !isCount(patch[0]) || !isCount(patch[1])) // C2
    return op.emitOpError() << "patch is " << shapeText(patch)
                            << " but must be two numbers from 1 to 2147483647";
  if (prefix < 0 || prefix > INT32_MAX) // C2
    return op.emitOpError()
           << "prefix is " << prefix << " but must be from 0 to 2147483647";
  int64_t tokens = ShapedType::kDynamic;
  if (ShapedType::isDynamic(pixels[2])) {
    if (failed(verifyGrid(op, op.getPixels(), patch, prefix))) // C1
      return failure();
  } else {
    auto grid =
        verifyPatches(op, pixels.drop_front(), patch, patch, {0, 0}, prefix);
    if (failed(grid))
      return failure();
    tokens = grid->tokens;
  }
  if (result.size() == 3 && result[1] == tokens && result[2] == channels)
    return success();
  return op.emitOpError() << "result is " << shapeText(result) // C4, C5
                          << " but must be "
                          << shapeText(
                                 {ShapedType::kDynamic, tokens, channels});
}

} // namespace

LogicalResult PatchesOp::verify() {
  ArrayRef<int64_t> pixels = shapeOf(getPixels()),
                    result = shapeOf(getResult());
  bool isSized = pixels.size() == 4 && pixels[1] > 0 &&
                 ShapedType::isDynamic(pixels[2]) &&
                 ShapedType::isDynamic(pixels[3]);
  if ((pixels.size() != 3 && pixels.size() != 4) ||
      (!isSized && llvm::any_of(pixels.drop_front(),
                                [](int64_t n) { return n <= 0; }))) // C1
    return emitOpError()
           << "pixels are " << shapeText(pixels)
           << " but must be [batch, c, h, w] or [batch, c, w], all "
              "but batch fixed";
  auto image = llvm::to_vector(pixels.drop_front());
  if (image.size() == 2)
    image.insert(image.begin() + 1, 1);
  if (isSized) {
    if (getStride() != getKernel() ||
        llvm::any_of(getPadding(), [](int64_t n) { return n; })) // C1
      return emitOpError() << "kernel is " << shapeText(getKernel())
                           << ", stride " << shapeText(getStride())
                           << " and padding " << shapeText(getPadding())
                           << " but an image of run-time sides has patches "
                              "that neither meet nor leave gaps";
    if (failed(verifyGrid(*this, getPixels(), getKernel(), getPrefix()))) // C1
      return failure();
    for (unsigned axis : {0, 1}) // a whole patch at least
      image[1 + axis] = getKernel()[axis];
  }
  auto grid = verifyPatches(*this, image, getKernel(), getStride(),
                            getPadding(), getPrefix()); // C2
  if (failed(grid))
    return failure();
  const int64_t tokens = isSized ? ShapedType::kDynamic : grid->tokens;
  if (result.size() == 3 && result[1] == tokens &&
      result[2] == grid->channels) // C3
    return success();
  return emitOpError() << "result is " << shapeText(result) << " but must be "
                       << shapeText(
                              {ShapedType::kDynamic, tokens, grid->channels});
}

LogicalResult MovePatchesOp::verify() {
  const bool into = getMove() == Move::into_windows,
             merge = getMove() == Move::merge;
  ArrayRef<int64_t> input = shapeOf(getInput());
  if (input.size() != 3 || !ShapedType::isDynamic(input[1])) // C4
    return emitOpError() << "input is " << shapeText(input)
                         << " but must be [batch, tokens, c], run-time tokens";
  const int64_t size = getSize();
  const int64_t scale = into ? size : merge ? 2 : 1;
  const int64_t each = into && size <= INT16_MAX ? size * size : 1;
  return verifyMoved(*this, !merge, scale, each, // C1, C2, C3, C4
                     input[2] * (merge ? 4 : 1));
}

LogicalResult WindowSegmentsOp::verify() {
  const int64_t size = getSize();
  return verifyMoved(*this, true, size, // C1, C2, C3, C4
                     size <= INT16_MAX ? size * size : 1, {});
}

LogicalResult PatchRotationOp::verify() {
  double theta = getTheta().convertToDouble();
  if (!std::isfinite(theta) || theta <= 0) // C3
    return emitOpError() << "theta is " << formatDouble(theta)
                         << " but must be > 0 and finite";
  const int64_t size = getHeadDim();
  if (size < 4) // C3
    return emitOpError() << "head_dim is " << size << " but must be >= 4";
  return verifyImage(*this, size / 4 * 4);
}

LogicalResult PatchTableOp::verify() {
  if (!getBaseAttr() && !getTableAttr()) // C3
    return emitOpError("has neither base nor table");
  if (bool(getTableAttr()) != bool(getOwn()) ||
      bool(getTableAttr()) != bool(getResize())) // C4
    return emitOpError("must have all of table, own and resize, or none");
  const int64_t placed = getPlaced(), prefix = getPrefix();
  if (placed < 0 || placed > (getTableAttr() ? prefix : 0)) // C2, C4
    return emitOpError() << "placed is " << placed << " but must be from 0 to "
                         << (getTableAttr() ? prefix : 0);
  if (auto own = getOwn(); own && (own->size() != 2 || !isCount((*own)[0]) ||
                                   !isCount((*own)[1]))) // C4
    return emitOpError() << "own is " << shapeText(*own)
                         << " but must be two numbers from 1 to 2147483647";
  const int64_t channels = shapeOf(getResult()).back(); // C5
  return verifyImage(*this, channels);
}

LogicalResult PatchTableOp::verifySymbolUses(SymbolTableCollection &tables) {
  const int64_t channels = shapeOf(getResult()).back();
  int64_t rows = int64_t(getPrefix()) + 1;
  if (failed(verifyShapeOf(*this, "base", getBaseAttr(), {rows, channels},
                           tables))) // C3
    return failure();
  if (auto own = getOwn())
    rows = getPlaced() + (*own)[0] * (*own)[1];
  return verifyShapeOf(*this, "table", getTableAttr(), {rows, channels}, // C4
                       tables);
}
