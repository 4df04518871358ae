// Converts what an entry remembers: the run's tokens go behind those of earlier
// runs, in the memory of a state.
// Must not read what a state holds but through `recall`.
#include "compiler/fuse/Converter.h"

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

// The memory of an entry of a state, with the rows of `space`.
Value Converter::recall(OpBuilder &builder, Location location, Value state,
                        int64_t index, Space space) {
  auto whole = cast<RankedTensorType>(valueOf(state).getType());
  auto type = RankedTensorType::get(whole.getShape().drop_front(),
                                    whole.getElementType());
  Value rows = rowsOf(space);
  return kernel::RecallOp::create(builder, location, type, valueOf(state), rows,
                                  index);
}

// Ids are inputs, or made of inputs alone, so that what they remember is there
// before the layers, as everything that is made of it expects.
LogicalResult Converter::convertRemember(RememberOp op) {
  bool ids =
      cast<ShapedType>(op.getInput().getType()).getElementType().isInteger();
  OpBuilder &builder = ids && !layer ? head : body;
  Space space = spaceOf(op.getResult());
  Value held =
      recall(builder, op.getLoc(), op.getState(), op.getIndex(), space);
  values[op.getResult()] =
      kernel::RememberOp::create(
          builder, op.getLoc(), held.getType(), valueOf(op.getInput()),
          op.getPast() ? valueOf(op.getPast()) : Value(), tokensOf(space), held,
          /*panels=*/kernel::StatePanelsAttr(),
          /*heads=*/IntegerAttr())
          .getResult();
  return success();
}

// What another entry remembered is there before the layers; an index in a body
// counts from layer 0.
LogicalResult Converter::convertRecall(RecallOp op) {
  OpBuilder &builder = layer ? body : head;
  values[op.getResult()] = recall(builder, op.getLoc(), op.getState(),
                                  op.getIndex(), spaceOf(op.getResult()));
  return success();
}

LogicalResult Converter::convertPositions(PositionsOp op) {
  Value past = valueOf(op.getPast());
  values[op.getResult()] =
      once({past.getAsOpaquePointer(), op->getName().getAsOpaquePointer()},
           [&]() -> Value {
             Value to = makeIndices(head, op.getLoc(), rowsOf(op.getResult()));
             return kernel::PositionsOp::create(head, op.getLoc(), to.getType(),
                                                past, to)
                 .getResult();
           });
  return success();
}

LogicalResult Converter::convertRecurrence(LinearAttendOp op, Value decay) {
  Space space; // a sequence's sums: heads * head_dim rows
  space.count = op.getHeads() * op.getHeadDim();
  Value held = recall(body, op.getLoc(), op.getState(), op.getIndex(), space);
  Value to = destinationOf(op.getResult());
  values[op.getResult()] =
      kernel::LinearRecurrenceOp::create(
          body, op.getLoc(), TypeRange{held.getType(), to.getType()},
          valueOf(op.getQuery()), valueOf(op.getKey()), valueOf(op.getValue()),
          op.getKeyMask() ? valueOf(op.getKeyMask()) : Value(), decay,
          valueOf(op.getPast()), ValueRange{held, to}, op.getHeadsAttr(),
          op.getKvHeadsAttr(), op.getHeadDimAttr(), op.getValueDimAttr(),
          body.getDenseI64ArrayAttr({0, 0, 0}), op.getScaleAttr())
          .getOutcomes()[1];
  return success();
}
