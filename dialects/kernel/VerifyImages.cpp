// Verifiers of ops that read images or their sizes, one `// Cn` per labelled
// constraint.
#include "dialects/kernel/Access.h"
#include "dialects/transformer/Sizes.h"
#include "dialects/transformer/Symbols.h"

#include <cmath>

using namespace mlir;
using namespace mille::kernel;
using mille::shapeText;
using mille::transformer::formatDouble;

namespace {

// Pixels [batch, c * h * w] of an image of fixed sides.
LogicalResult verifyPixels(PatchesOp op) {
  ArrayRef<int64_t> image = op.getImage();
  if (image.size() != 3 ||
      llvm::any_of(image, [](int64_t n) { return n <= 0; })) // C1
    return op.emitOpError() << "image is " << shapeText(image)
                            << " but must be three numbers > 0: c, h, w";
  auto pixels = columnsOf(op, "pixels", op.getPixels()); // C1
  if (!pixels)
    return failure();
  int64_t product;
  if (!__builtin_mul_overflow(image[0], image[1], &product) &&
      !__builtin_mul_overflow(product, image[2], &product) &&
      *pixels == product)
    return success();
  return op.emitOpError() << "pixels has " << *pixels // C1
                          << " columns but image is " << shapeText(image);
}

// Pixels [batch * c * h * w] of an image whose sides are sizes.
LogicalResult verifySizedPixels(PatchesOp op) {
  ArrayRef<int64_t> image = op.getImage();
  if (op.getSides().size() != 2 || image.size() != 3 || image[0] <= 0 ||
      image[1] || image[2]) // C1
    return op.emitOpError()
           << "image is " << shapeText(image) << " with "
           << op.getSides().size() << " sides but must be [c, 0, 0] with two";
  auto type = shapedOf(op.getPixels());
  if (type.getElementType().isF32() && type.getRank() == 1)
    return success();
  return op.emitOpError() << "pixels is " << type // C1
                          << " but must be f32 [?]";
}

bool isCount(int64_t number) { return number >= 1 && number <= INT32_MAX; }

// The patch of an image, and the tokens before the first.
LogicalResult verifyPatch(Operation *op, ArrayRef<int64_t> patch,
                          int64_t prefix) {
  if (patch.size() != 2 || !isCount(patch[0]) || !isCount(patch[1]))
    return op->emitOpError() << "patch is " << shapeText(patch)
                             << " but must be two numbers from 1 to 2147483647";
  if (prefix < 0 || prefix > INT32_MAX)
    return op->emitOpError()
           << "prefix is " << prefix << " but must be from 0 to 2147483647";
  return success();
}

// The pixels of a token, and windows of tokens where there are any.
LogicalResult verifyWindows(Operation *op, ArrayRef<int64_t> side,
                            bool hasWindows, int64_t size, int64_t shift) {
  if (side.size() != 2 || side[0] < 1 || side[1] < 1 || side[0] > INT16_MAX ||
      side[1] > INT16_MAX)
    return op->emitOpError() << "side is " << shapeText(side)
                             << " but must be two numbers from 1 to 32767";
  if (hasWindows ? size > 0 && size <= INT16_MAX && shift >= 0 && shift < size
                 : !size && !shift)
    return success();
  return op->emitOpError() << "size is " << size << " and shift " << shift
                           << (hasWindows ? " but 0 <= shift < size < 32768"
                                          : " but merge has neither");
}

} // namespace

LogicalResult PatchesOp::verify() {
  const bool isSized = !getSides().empty();
  if (failed(isSized ? verifySizedPixels(*this) : verifyPixels(*this))) // C1
    return failure();
  SmallVector<int64_t> image(getImage());
  for (unsigned axis : {0, 1})
    if (isSized) // a whole kernel at least
      image[1 + axis] = axis < getKernel().size() ? getKernel()[axis] : 1;
  auto grid = mille::transformer::verifyPatches( // C2
      *this, image, getKernel(), getStride(), getPadding(), getPrefix());
  if (failed(grid) ||
      failed(verifyOutColumns(*this, getOut(), grid->channels))) // C3
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C4
}

LogicalResult MovePatchesOp::verify() {
  const bool merge = getMove() == transformer::Move::merge;
  if (failed(verifyWindows(*this, getSide(), !merge, getSize(), // C1
                           getShift())))
    return failure();
  auto columns = columnsOf(*this, "input", getInput());
  if (!columns || failed(verifyOutColumns(*this, getOut(),
                                          *columns * (merge ? 4 : 1)))) // C2
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C3
}

LogicalResult WindowSegmentsOp::verify() {
  if (failed(verifyWindows(*this, getSide(), true, getSize(), // C1
                           getShift())))
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C2
}

LogicalResult PatchRotationOp::verify() {
  if (failed(verifyPatch(*this, getPatch(), getPrefix()))) // C1
    return failure();
  double theta = getTheta().convertToDouble();
  if (!std::isfinite(theta) || theta <= 0) // C2
    return emitOpError() << "theta is " << formatDouble(theta)
                         << " but must be > 0 and finite";
  const int64_t size = getHeadDim();
  if (size < 4) // C2
    return emitOpError() << "head_dim is " << size << " but must be >= 4";
  if (failed(verifyOutColumns(*this, getOut(), size / 4 * 4))) // C3
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C4
}

LogicalResult PatchTableOp::verify() {
  const int64_t prefix = getPrefix(), placed = getPlaced();
  if (failed(verifyPatch(*this, getPatch(), prefix))) // C1
    return failure();
  if (!getBase() && !getTable()) // C2
    return emitOpError("has neither base nor table");
  if (bool(getTable()) != bool(getOwn()) ||
      bool(getTable()) != bool(getResize())) // C3
    return emitOpError("must have all of table, own and resize, or none");
  if (placed < 0 || placed > (getTable() ? prefix : 0)) // C1, C3
    return emitOpError() << "placed is " << placed << " but must be from 0 to "
                         << (getTable() ? prefix : 0);
  auto columns = columnsOf(*this, "outs", getOut());
  if (!columns || failed(verifyOneOf(*this, "base", getBase(), // C2
                                     {{prefix + 1, *columns}})))
    return failure();
  if (auto own = getOwn()) {
    if (own->size() != 2 || !isCount((*own)[0]) || !isCount((*own)[1])) // C3
      return emitOpError() << "own is " << shapeText(*own)
                           << " but must be two numbers from 1 to 2147483647";
    if (failed(verifyOneOf(*this, "table", getTable(), // C3
                           {{placed + (*own)[0] * (*own)[1], *columns}})))
      return failure();
  }
  return verifyResult(*this, getOut(), getResult()); // C4
}
