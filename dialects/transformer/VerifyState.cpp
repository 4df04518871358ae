// Verifiers of ops on states, one `// Cn` per labelled constraint.
#include "dialects/transformer/State.h"
#include "dialects/transformer/Symbols.h"
#include "dialects/transformer/VerifyShapes.h"

using namespace mlir;
using namespace mille::transformer;
using mille::shapeText;

LogicalResult mille::verifyStateArgument(Operation *op, Value state) {
  auto argument = dyn_cast<BlockArgument>(state);
  auto entry = argument
                   ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
                   : func::FuncOp();
  if (entry && entry.getArgAttr(argument.getArgNumber(), "transformer.state"))
    return success();
  auto error =
      op->emitOpError("has a state that is no argument with transformer.state");
  error.attachNote(state.getLoc()) << "it comes from here";
  return error;
}

LogicalResult mille::verifyStateIndex(Operation *op, int64_t index,
                                      int64_t entries) {
  const bool isPlaced = op->getParentOfType<LayerStack>();
  if (index >= 0 &&
      (isPlaced || ShapedType::isDynamic(entries) || index < entries))
    return success();
  return op->emitOpError() << "index is " << index
                           << " but the state has entries 0 to " << entries - 1;
}

LogicalResult mille::transformer::verifyPast(Operation *op, Value past,
                                             int64_t batch) {
  if (agree(shapeOf(past), {batch}))
    return success();
  return op->emitOpError() << "past is " << shapeText(shapeOf(past))
                           << " but must be " << shapeText({batch});
}

LogicalResult RememberOp::verify() {
  ArrayRef<int64_t> input = shapeOf(getInput()), state = shapeOf(getState()),
                    result = shapeOf(getResult());
  auto element = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getElementType();
  };
  bool ids = element(getInput()).isInteger();
  if (state.size() != 4 || input.size() != (ids ? 2 : 3) ||
      element(getState()) != element(getInput()) ||
      state[3] != (ids ? 1 : input[2])) // C1
    return emitOpError() << "state is " << getState().getType()
                         << " but input is " << getInput().getType();
  if (element(getResult()) != element(getInput()) ||
      !agree(result, state.slice(1, input.size()))) // C1
    return emitOpError() << "result is " << getResult().getType()
                         << " but the state is " << getState().getType();
  if (failed(verifyStateIndex(*this, getIndex(), state[0])) ||       // C2
      (getPast() && failed(verifyPast(*this, getPast(), input[0])))) // C3
    return failure();
  return verifyStateArgument(*this, getState()); // C4
}

LogicalResult RecallOp::verify() {
  ArrayRef<int64_t> state = shapeOf(getState()), result = shapeOf(getResult());
  auto type = cast<RankedTensorType>(getResult().getType());
  const bool ids = type.getElementType().isInteger();
  if (state.size() != 4 || result.size() != (ids ? 2 : 3) ||
      cast<RankedTensorType>(getState().getType()).getElementType() !=
          type.getElementType() ||
      (ids && state[3] != 1) ||
      !agree(result, state.slice(1, result.size()))) // C1
    return emitOpError() << "result is " << type << " but the state is "
                         << getState().getType();
  if (failed(verifyStateIndex(*this, getIndex(), state[0]))) // C2
    return failure();
  return verifyStateArgument(*this, getState()); // C3
}

LogicalResult PositionsOp::verify() {
  ArrayRef<int64_t> like = shapeOf(getLike());
  if (failed(verifyPast(*this, getPast(), like[0]))) // C1
    return failure();
  if (like.size() >= 2 && agree(shapeOf(getResult()), like.take_front(2))) // C1
    return success();
  return emitOpError() << "result is " << shapeText(shapeOf(getResult()))
                       << " but like is " << shapeText(like);
}

LogicalResult mille::transformer::verifyState(LinearAttendOp op) {
  if (bool(op.getState()) != bool(op.getPast())) // C6
    return op.emitOpError("must have both state and past, or neither");
  if (!op.getState())
    return success();
  ArrayRef<int64_t> state = shapeOf(op.getState()),
                    query = shapeOf(op.getQuery());
  int64_t rows;
  if (__builtin_mul_overflow(int64_t(op.getHeads()), int64_t(op.getHeadDim()),
                             &rows) ||
      !cast<RankedTensorType>(op.getState().getType())
           .getElementType()
           .isF32() ||
      !agree(state, {ShapedType::kDynamic, query[0], rows,
                     int64_t(op.getValueDim())})) // C6
    return op.emitOpError()
           << "state is " << op.getState().getType() << " but must be f32 "
           << shapeText({ShapedType::kDynamic, query[0], rows,
                         int64_t(op.getValueDim())});
  if (failed(verifyPast(op, op.getPast(), query[0])) ||
      failed(verifyStateIndex(op, op.getIndex(), state[0]))) // C6
    return failure();
  return verifyStateArgument(op, op.getState()); // C6
}
