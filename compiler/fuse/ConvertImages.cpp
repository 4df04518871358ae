// Converts ops that read images or their sizes from `transformer` to `kernel`.
// Must not fuse.
#include "compiler/fuse/Converter.h"
#include "dialects/transformer/Grid.h"

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

// A side of the image: a size of the run, or a number.
Value Converter::sideOf(Value pixels, unsigned axis) {
  if (gridOf(pixels))
    return runSizes.lookup(
        transformer::sideOf(cast<BlockArgument>(pixels), axis));
  auto shape = cast<RankedTensorType>(pixels.getType()).getShape();
  Space space;
  space.count = shape[2 + axis];
  return tokensOf(space);
}

// Whether `pixels` are an input that nothing reads as tokens.
LogicalResult Converter::checkPixels(Operation *op, Value pixels) {
  if (!isa<BlockArgument>(pixels))
    return op->emitOpError("reads what is no input of '")
           << function.getName()
           << "' but only an image that is one has pixels";
  for (Operation *user : pixels.getUsers())
    if (!isa<PatchesOp, PatchTableOp, PatchRotationOp, MovePatchesOp,
             WindowSegmentsOp, TokenNumbersOp, PairBiasOp, DistanceBiasOp,
             ConstantOp>(user)) {
      auto error = op->emitOpError("reads pixels that '")
                   << user->getName() << "' reads as tokens";
      error.attachNote(user->getLoc()) << "the input is read here";
      return error;
    }
  return success();
}

LogicalResult Converter::convertPatches(PatchesOp op) {
  if (failed(checkPixels(op, op.getPixels())))
    return failure();
  Value pixels = valueOf(op.getPixels());
  auto shape = cast<RankedTensorType>(op.getPixels().getType()).getShape();
  SmallVector<int64_t> image(shape.drop_front());
  if (image.size() == 2) // a spectrogram
    image.insert(image.begin() + 1, 1);
  SmallVector<Value> sides;
  if (gridOf(op.getPixels()))
    for (unsigned axis : {0, 1}) {
      sides.push_back(sideOf(op.getPixels(), axis));
      image[1 + axis] = 0;
    }
  Value to = destinationOf(op.getResult());
  values[op.getResult()] =
      kernel::PatchesOp::create(body, op.getLoc(), to.getType(), pixels, sides,
                                body.getDenseI64ArrayAttr(image),
                                op.getKernelAttr(), op.getStrideAttr(),
                                op.getPaddingAttr(), op.getPrefixAttr(), to)
          .getResult();
  return success();
}

// Once for all readers, and before the layers that read it.
LogicalResult Converter::convertPatchRotation(PatchRotationOp op) {
  if (failed(checkPixels(op, op.getPixels())))
    return failure();
  Value to = makeDestination(head, op.getLoc(), rowsOf(op.getResult()),
                             channelsOf(op.getResult()));
  values[op.getResult()] =
      kernel::PatchRotationOp::create(
          head, op.getLoc(), to.getType(), sideOf(op.getPixels(), 0),
          sideOf(op.getPixels(), 1), op.getPatchAttr(), op.getPrefixAttr(),
          op.getThetaAttr(), op.getHeadDimAttr(), to)
          .getResult();
  return success();
}

LogicalResult Converter::convertPatchTable(PatchTableOp op) {
  if (failed(checkPixels(op, op.getPixels())))
    return failure();
  Value base, table;
  if (op.getBaseAttr() && !(base = weight(op.getLoc(), op.getBaseAttr())))
    return failure();
  if (op.getTableAttr() && !(table = weight(op.getLoc(), op.getTableAttr())))
    return failure();
  Value to = destinationOf(op.getResult());
  values[op.getResult()] =
      kernel::PatchTableOp::create(
          body, op.getLoc(), to.getType(), sideOf(op.getPixels(), 0),
          sideOf(op.getPixels(), 1), base, table, op.getPatchAttr(),
          op.getPrefixAttr(), op.getOwnAttr(), op.getPlacedAttr(),
          op.getResizeAttr(), to)
          .getResult();
  return success();
}

LogicalResult Converter::convertMovePatches(MovePatchesOp op) {
  if (failed(checkPixels(op, op.getPixels())))
    return failure();
  Space from = spaceOf(op.getInput());
  if (from.size != readTokens(op))
    return op.emitOpError("reads rows of ")
           << from.text() << " but must read those of batch * "
           << readTokens(op);
  Value to = destinationOf(op.getResult());
  values[op.getResult()] =
      kernel::MovePatchesOp::create(
          body, op.getLoc(), to.getType(), valueOf(op.getInput()),
          sideOf(op.getPixels(), 0), sideOf(op.getPixels(), 1),
          op.getMoveAttr(), op.getSideAttr(), op.getSizeAttr(),
          op.getShiftAttr(), to)
          .getResult();
  return success();
}

// Once for all layers of these windows.
LogicalResult Converter::convertWindowSegments(WindowSegmentsOp op) {
  if (failed(checkPixels(op, op.getPixels())))
    return failure();
  values[op.getResult()] = once(
      {op->getName().getAsOpaquePointer(),
       op.getSideAttr().getAsOpaquePointer(),
       op.getSizeAttr().getAsOpaquePointer(),
       op.getShiftAttr().getAsOpaquePointer()},
      [&]() -> Value {
        Value to = makeIndices(head, op.getLoc(), rowsOf(op.getResult()));
        return kernel::WindowSegmentsOp::create(
                   head, op.getLoc(), to.getType(), sideOf(op.getPixels(), 0),
                   sideOf(op.getPixels(), 1), op.getSideAttr(),
                   op.getSizeAttr(), op.getShiftAttr(), to)
            .getResult();
      });
  return success();
}
