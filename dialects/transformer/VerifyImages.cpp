// Grids of images, and the verifiers of ops that read an image's sizes, one
// `// Cn` per labelled constraint.
#include "dialects/transformer/Grid.h"
#include "dialects/transformer/Sizes.h"
#include "dialects/transformer/Symbols.h"
#include "llvm/ADT/StringExtras.h"

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

LogicalResult GridAttr::verify(EmitError emitError, StringRef tokens,
                               ArrayRef<int64_t> patch, ArrayRef<int64_t> own,
                               int64_t prefix) {
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
  bool isName =
      !tokens.empty() && !llvm::isDigit(tokens[0]) &&
      llvm::all_of(tokens, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (!isName) // C2
    return emitError() << "tokens is \"" << tokens
                       << "\" but must be the name of a size";
  return success();
}

namespace {

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

bool isCount(int64_t number) { return number >= 1 && number <= INT32_MAX; }

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
