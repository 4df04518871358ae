// Verifiers of the ops on states, one `// Cn` per labelled constraint.
#include "dialects/kernel/Access.h"
#include "dialects/kernel/Remembered.h"
#include "dialects/kernel/StateBytes.h"
#include "dialects/transformer/State.h"
#include "dialects/transformer/Symbols.h"

using namespace mlir;
using namespace mille::kernel;

namespace {

// The destination must be the memory of a state, a result of `recall`.
LogicalResult verifyRecalled(Operation *op, Value out) {
  if (out.getDefiningOp<RecallOp>())
    return success();
  return op->emitOpError("writes to outs that kernel.recall does not give");
}

} // namespace

LogicalResult RecallOp::verify() {
  ShapedType state = shapedOf(getState()), result = shapedOf(getResult());
  if (!state.hasRank() || state.getRank() < 2 ||
      state.getElementType() != result.getElementType() ||
      state.getShape().drop_front() != result.getShape()) // C1
    return emitOpError() << "result is " << result << " but the state is "
                         << state;
  if (failed(mille::verifyStateIndex(*this, getIndex(),
                                     state.getDimSize(0)))) // C2
    return failure();
  return mille::verifyStateArgument(*this, getState()); // C3
}

int64_t mille::kernel::fromOf(RememberOp op) {
  auto from = op->getAttrOfType<IntegerAttr>(fromName);
  return from ? from.getInt() : 0;
}

void mille::kernel::setFrom(RememberOp op, int64_t column) {
  op->setAttr(fromName, Builder(op).getI64IntegerAttr(column));
}

int64_t mille::kernel::rememberedColumns(RememberOp op) {
  const bool fromSome = fromOf(op) > 0;
  ShapedType of = shapedOf(fromSome ? op.getOut() : op.getInput());
  const int64_t columns = of.getRank() == 2 ? of.getDimSize(1) : 1;
  if (!fromSome || !of.getElementType().isSignlessInteger(8))
    return columns;
  return columns - int64_t(op.getHeads().value_or(1)) * rowBytes(0); // steps
}

// Outs of bytes: the columns of the input, and of its steps.
static LogicalResult verifyBytes(RememberOp op) {
  if (!op.getPanels())
    return op.emitOpError()
           << "outs is " << op.getOut().getType() << " but there are no panels";
  auto columns = columnsOf(op, "input", op.getInput(), Elements::f32OrBf16);
  if (!columns)
    return failure();
  const int64_t heads = op.getHeads().value_or(1);
  const int64_t size = rememberedColumns(op) / heads;
  const bool keys = op.getPanels() == StatePanels::keys;
  if (keys && size % stateByteGroup)
    return op.emitOpError()
           << "keys in bytes have heads of " << size
           << " columns but must have a multiple of " << stateByteGroup;
  const int64_t wanted = heads * rowBytes(size);
  if (shapeOf(op.getOut()).back() == wanted)
    return success();
  return op.emitOpError() << "outs is " << op.getOut().getType() << " but "
                          << heads << " heads of " << size << " columns have "
                          << wanted << " bytes";
}

static LogicalResult verifyHalves(RememberOp op) {
  if (!op.getPanels())
    return op.emitOpError()
           << "outs is " << op.getOut().getType() << " but there are no panels";
  return success(
      columnsOf(op, "input", op.getInput(), Elements::f32OrBf16).has_value());
}

LogicalResult RememberOp::verify() {
  ShapedType input = shapedOf(getInput()), out = shapedOf(getOut());
  const bool inBytes = out.hasRank() && out.getRank() == 2 &&
                       out.getElementType().isSignlessInteger(8),
             inHalves = out.getElementType().isF16() &&
                        input.getElementType() != out.getElementType();
  const int64_t from = fromOf(*this);
  if (!input.hasRank() || !out.hasRank() ||
      (!inBytes &&
       ((!inHalves && input.getElementType() != out.getElementType()) ||
        input.getRank() != out.getRank() ||
        (!from && input.getShape() != out.getShape())))) // C1
    return emitOpError() << "outs is " << out << " but input is " << input;
  if (from && (input.getRank() != 2 || out.getRank() != 2 ||
               from > input.getDimSize(1) - rememberedColumns(*this))) // C1
    return emitOpError() << "outs is " << out << " but input is " << input
                         << ", from column " << from;
  if (failed(verifyRecalled(*this, getOut()))) // C2
    return failure();
  if (getPanels().has_value() != getHeads().has_value()) // C4
    return emitOpError(getPanels() ? "has panels but no heads"
                                   : "has heads but no panels");
  int64_t heads = getHeads().value_or(1);
  if (heads < 1 || (input.getRank() != 2 && getPanels()) ||
      (getPanels() && rememberedColumns(*this) % heads)) // C4
    return emitOpError() << "has " << input << " but heads is " << heads;
  if (inBytes && failed(verifyBytes(*this))) // C5
    return failure();
  if (inHalves && failed(verifyHalves(*this))) // C5
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C3
}

LogicalResult PositionsOp::verify() {
  return verifyResult(*this, getOut(), getResult()); // C1
}

LogicalResult LinearRecurrenceOp::verify() {
  int64_t heads = getHeads(), valueDim = getValueDim();
  if (getOuts().size() != 2) // C1
    return emitOpError() << "has " << getOuts().size()
                         << " outs but there are 2: sums, and rows";
  if (failed(verifyRecalled(*this, getOuts()[0]))) // C1
    return failure();
  if (failed(verifyHeads(*this, getOuts()[1]))) // C2
    return failure();
  if (shapeOf(getOuts()[0]).back() != valueDim) // C1
    return emitOpError() << "sums have " << shapeOf(getOuts()[0]).back()
                         << " columns but value_dim is " << valueDim;
  if (failed(verifyIndices(*this, "key_mask", getKeyMask())) ||   // C2
      failed(verifyOneOf(*this, "decay", getDecay(), {{heads}}))) // C2
    return failure();
  return verifyResults(*this, getOuts(), getOutcomes()); // C3
}
