// Verifiers of what turns, moves and sorts rows, one `// Cn` per labelled
// constraint.
#include "dialects/kernel/Access.h"
#include "dialects/transformer/Symbols.h"

using namespace mlir;
using namespace mille::kernel;
using mille::transformer::shapeText;

namespace {

LogicalResult verifyIndices(Operation *op, StringRef name, Value value) {
  ShapedType type = shapedOf(value);
  if (type.getRank() == 1 && type.getElementType().isInteger(32))
    return success();
  return op->emitOpError() << name << " is " << type << " but must be i32 [?]";
}

// Input and out have columns; the out's are `wanted` (a negative one: any).
LogicalResult verifyOut(Operation *op, Value out, int64_t wanted) {
  auto columns = columnsOf(op, "outs", out);
  if (!columns)
    return failure();
  if (wanted == *columns)
    return success();
  return op->emitOpError() << "outs has " << *columns << " columns but must have "
                           << wanted;
}

} // namespace

LogicalResult RotateOp::verify() {
  int64_t heads = getHeads(), head = getHeadDim();
  if (failed(verifyPositive(*this, "heads", heads)) ||
      failed(verifyPositive(*this, "head_dim", head)) ||
      failed(verifyColumns(*this, "input", getInput(), 0, heads, head)) || // C1
      failed(verifyColumns(*this, "outs", getOut(), 0, heads, head)))      // C1
    return failure();
  auto turned = columnsOf(*this, "rotation", getRotation());
  if (!turned)
    return failure();
  int64_t start = getStart();
  if (*turned % 2 || start < 0 || *turned > head - start) // C2
    return emitOpError() << "rotation has " << *turned
                         << " columns but must be even and at most head_dim, "
                         << head << ", less start, " << start;
  return verifyResult(*this, getOut(), getResult()); // C3
}

LogicalResult GatherTokensOp::verify() {
  auto columns = columnsOf(*this, "input", getInput());
  int64_t group = getGroup();
  if (!columns || failed(verifyPositive(*this, "group", group)) ||
      failed(verifyPositive(*this, "tokens", getTokens())) ||
      failed(verifyOut(*this, getOut(), *columns * group)))
    return failure();
  if (getIndex().empty() || getIndex().size() % group)
    return emitOpError() << "index has " << getIndex().size()
                         << " entries but group is " << group;
  for (int64_t token : getIndex())
    if (token < -1 || token >= int64_t(getTokens()))
      return emitOpError() << "index names token " << token << " of "
                           << int64_t(getTokens());
  return verifyResult(*this, getOut(), getResult());
}

LogicalResult PatchesOp::verify() {
  for (auto [name, list, size] :
       {std::tuple<StringRef, ArrayRef<int64_t>, size_t>{"image", getImage(), 3},
        {"kernel", getKernel(), 2}, {"stride", getStride(), 2},
        {"padding", getPadding(), 2}})
    if (list.size() != size)
      return emitOpError() << name << " has " << list.size()
                           << " numbers but must have " << size;
  auto pixels = columnsOf(*this, "pixels", getPixels());
  if (!pixels)
    return failure();
  if (*pixels != getImage()[0] * getImage()[1] * getImage()[2])
    return emitOpError() << "pixels has " << *pixels
                         << " columns but image is " << shapeText(getImage());
  if (failed(verifyOut(*this, getOut(),
                       getImage()[0] * getKernel()[0] * getKernel()[1])))
    return failure();
  return verifyResult(*this, getOut(), getResult());
}

LogicalResult RouteOp::verify() {
  auto entries = columnsOf(*this, "logits", getLogits()); // C1
  if (!entries)
    return failure();
  if (getOuts().size() != 4) // C1
    return emitOpError() << "has " << getOuts().size()
                         << " outs but there are 4: weights, order, place, starts";
  if (failed(verifyOut(*this, getOuts()[0], getK())) || // C1
      failed(verifyIndices(*this, "order", getOuts()[1])) ||
      failed(verifyIndices(*this, "place", getOuts()[2])) ||
      failed(verifyIndices(*this, "starts", getOuts()[3])))
    return failure();
  if (shapeOf(getOuts()[3])[0] != *entries + 1) // C1
    return emitOpError() << "starts is " << getOuts()[3].getType()
                         << " but there are " << *entries << " experts";
  if (failed(verifyOneOf(*this, "selection_bias", getSelectionBias(), // C2
                         {{*entries}})))
    return failure();
  bool isTensor = isa<RankedTensorType>(getOuts()[0].getType());
  if (getOutcomes().size() != (isTensor ? 4u : 0u)) // C3
    return emitOpError() << "has " << getOutcomes().size() << " results but outs are "
                         << (isTensor ? "tensors" : "memrefs");
  return success();
}

namespace {

// Rows of one width go to rows of the same, by slots of k.
template <typename Op> LogicalResult verifySlots(Op op) {
  auto columns = columnsOf(op, "input", op.getInput()); // C1
  if (!columns || failed(verifyPositive(op, "k", op.getK())) ||
      failed(verifyOut(op, op.getOut(), *columns)) || // C1
      failed(verifyIndices(op, "place", op.getPlace())) ||
      failed(verifyOneOf(op, "weights", op.getWeights(), // C2
                         {{ShapedType::kDynamic, int64_t(op.getK())}})))
    return failure();
  return verifyResult(op, op.getOut(), op.getResult()); // C3
}

} // namespace

LogicalResult DispatchOp::verify() {
  if (failed(verifyIndices(*this, "order", getOrder()))) // C1
    return failure();
  return verifySlots(*this);
}

LogicalResult CombineOp::verify() { return verifySlots(*this); }
