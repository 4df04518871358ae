// Verifiers of the ops that the runtime computes, one `// Cn` per labelled
// constraint. The .td files check the forms of buffers.
#include "dialects/kernel/Access.h"
#include "dialects/transformer/Symbols.h"
#include "dialects/transformer/Training.h"

#include <cmath>

using namespace mlir;
using namespace mille::kernel;
using mille::transformer::formatDouble;
using mille::transformer::LengthKind;
using mille::transformer::Pool;

namespace {

// The number must fit i32, as the runtime holds it.
LogicalResult verifyI32(Operation *op, StringRef name, int64_t number) {
  if (llvm::isInt<32>(number))
    return success();
  return op->emitOpError() << name << " is " << number << " but must be an i32";
}

LogicalResult verifyFinite(Operation *op, StringRef name, double number) {
  if (std::isfinite(number))
    return success();
  return op->emitOpError() << name << " is " << formatDouble(number)
                           << " but must be finite";
}

LogicalResult verifyNotNegative(Operation *op, StringRef name, int64_t number) {
  if (number >= 0)
    return success();
  return op->emitOpError() << name << " is " << number << " but must be >= 0";
}

// Both buffers must have rows of the same width.
LogicalResult verifySameColumns(Operation *op, StringRef name, Value buffer,
                                StringRef otherName, Value other) {
  int64_t columns = shapeOf(buffer)[1], others = shapeOf(other)[1];
  if (columns == others)
    return success();
  return op->emitOpError() << name << " has " << columns << " columns but "
                           << otherName << " has " << others;
}

LogicalResult verifyName(Operation *op, StringRef name) {
  if (!name.empty())
    return success();
  return op->emitOpError("has no name");
}

} // namespace

//===-- of every token ----------------------------------------------------===//

LogicalResult RotationOp::verify() {
  auto columns = columnsOf(*this, "outs", getOut());
  if (!columns)
    return failure();
  if (*columns != 2 * int64_t(getFrequencies().size())) // C1
    return emitOpError() << "outs has " << *columns << " columns but there are "
                         << getFrequencies().size() << " frequencies";
  if (auto longer = getLongContextAttr();
      longer && longer.getFrequencies() &&
      longer.getFrequencies().size() != int64_t(getFrequencies().size())) // C2
    return emitOpError() << "has " << getFrequencies().size()
                         << " frequencies but "
                         << longer.getFrequencies().size() << " for long runs";
  return verifyResult(*this, getOut(), getResult()); // C3
}

LogicalResult AlibiOp::verify() {
  int64_t columns = shapeOf(getOut())[1], slopes = getSlopes().size();
  if (columns != slopes) // C1
    return emitOpError() << "outs has " << columns << " columns but there are "
                         << slopes << " slopes";
  for (double slope : getSlopes())
    if (failed(verifyFinite(*this, "a slope", slope))) // C2
      return failure();
  if (failed(verifyFinite(*this, "factor",
                          getFactor().convertToDouble()))) // C2
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C3
}

LogicalResult QueryScaleOp::verify() {
  LengthKind kind = getScale().getKind();
  bool ofPositions = kind == LengthKind::log_floor;
  if (bool(getPositions()) != ofPositions) // C1
    return emitOpError() << "scale is " << stringifyLengthKind(kind)
                         << (ofPositions ? " but there are no positions"
                                         : " but there are positions");
  if (getKeyMask() && kind != LengthKind::log_keys) // C2
    return emitOpError() << "scale is " << stringifyLengthKind(kind)
                         << " but there is a key_mask";
  if (auto window = getWindow();
      window &&
      (window->size() != 2 || (*window)[0] < 0 || (*window)[1] < 0)) // C3
    return emitOpError("window must be two numbers >= 0, left and right");
  if (getPast() && kind == LengthKind::log_keys && !getCausal()) // C5
    return emitOpError("has past and counts keys but is not causal");
  return verifyResult(*this, getOut(), getResult()); // C4
}

LogicalResult ShiftOp::verify() {
  if (failed(verifyI32(*this, "the number", getNumber()))) // C1
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C2
}

LogicalResult SpreadOp::verify() {
  for (auto [name, buffer] :
       {std::pair<StringRef, Value>{"weight", getWeight()}, {"outs", getOut()}})
    if (!shapedOf(buffer).hasStaticShape() ||
        !shapedOf(buffer).getElementType().isF32()) // C1
      return emitOpError() << name << " is " << buffer.getType()
                           << " but must be f32 of a fixed shape";
  const int64_t numbers = shapedOf(getWeight()).getNumElements(),
                wanted = shapedOf(getOut()).getNumElements();
  if (int64_t(getFrom().size()) != wanted) // C2
    return emitOpError() << "from has " << getFrom().size()
                         << " numbers but outs has " << wanted;
  for (int64_t number : getFrom())
    if (number < 0 || number >= numbers) // C2
      return emitOpError() << "from has " << number << " but weight has "
                           << numbers << " numbers";
  return verifyResult(*this, getOut(), getResult()); // C3
}

LogicalResult DropoutOp::verify() {
  for (auto [name, value] :
       {std::pair<StringRef, Value>{"step", getStep()}, {"first", getFirst()}})
    if (shapeOf(value) != ArrayRef<int64_t>({1}) ||
        !shapedOf(value).getElementType().isInteger(32)) // C1
      return emitOpError() << name << " is " << value.getType()
                           << " but must be i32 [1]";
  std::string why = mille::dropoutProblem(getRate().convertToDouble(),
                                          getSeed(), getSite(), getAfter());
  if (!why.empty()) // C2
    return emitOpError() << why;
  if (failed(verifySameColumns(*this, "input", getInput(), "outs",
                               getOut()))) // C3
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C4
}

LogicalResult PoolGradientOp::verify() {
  if (getIndex() && (getKeyMask() || getSkip())) // C1
    return emitOpError("has an index, but also a key_mask or a skip");
  if (failed(verifyNotNegative(*this, "skip", getSkip())) || // C1
      failed(verifySameColumns(*this, "gradient", getGradient(), "outs",
                               getOut()))) // C2
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C3
}

LogicalResult ReverseTokensOp::verify() {
  if (failed(verifySameColumns(*this, "input", getInput(), "outs",
                               getOut()))) // C1
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C2
}

LogicalResult TokenNumbersOp::verify() {
  if (getNumbers().empty()) // C1
    return emitOpError("has no numbers");
  for (int64_t number : getNumbers())
    if (failed(verifyI32(*this, "a number", number))) // C1
      return failure();
  return verifyResult(*this, getOut(), getResult()); // C2
}

LogicalResult CountTokensOp::verify() {
  if (failed(verifyNotNegative(*this, "first", getFirst())) ||       // C1
      failed(verifyPositive(*this, "each", getEach())) ||            // C1
      failed(verifyI32(*this, "first", getFirst())) ||               // C1
      failed(verifyI32(*this, "each", getEach())) ||                 // C1
      failed(verifyI32(*this, "padding", getPadding().value_or(0)))) // C1
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C2
}

//===-- of a sequence -----------------------------------------------------===//

LogicalResult PoolIndexOp::verify() {
  Pool kind = getKind();
  int64_t skip = getSkip();
  bool ofIds = kind == Pool::first_id || kind == Pool::highest_id;
  if (kind == Pool::mean) // C1
    return emitOpError("kind is mean but that is no token");
  if (ofIds && !getMask()) // C1
    return emitOpError() << "kind is " << stringifyPool(kind)
                         << " but there are no ids";
  if (failed(verifyNotNegative(*this, "skip", skip))) // C2
    return failure();
  if (skip && kind != Pool::first) // C2
    return emitOpError() << "skip is " << skip << " but kind is "
                         << stringifyPool(kind);
  if (failed(verifyI32(*this, "id", getId()))) // C2
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C3
}

LogicalResult PoolMeanOp::verify() {
  if (failed(verifySameColumns(*this, "input", getInput(), "outs",
                               getOut())) ||               // C1
      failed(verifyNotNegative(*this, "skip", getSkip()))) // C2
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C3
}

//===-- of a run ----------------------------------------------------------===//

LogicalResult ScheduleOp::verify() {
  if (failed(verifyName(*this, getName())) ||                             // C1
      failed(verifyPositive(*this, "steps", getSteps())) ||               // C2
      failed(verifyFinite(*this, "from", getFrom().convertToDouble())) || // C2
      failed(verifyFinite(*this, "to", getTo().convertToDouble())))       // C2
    return failure();
  if (shapeOf(getStep())[0] != 1) // C3
    return emitOpError() << "step is " << getStep().getType()
                         << " but must be i32 [1]";
  if (failed(verifyOneOf(*this, "outs", getOut(), {{1}}))) // C3
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C4
}

LogicalResult SimilarityOp::verify() {
  if (failed(verifySameColumns(*this, "left", getLeft(), "right",
                               getRight()))) // C1
    return failure();
  return verifyName(*this, getName()); // C2
}

LogicalResult KeepOp::verify() {
  if (failed(verifyNotNegative(*this, "index", getIndex()))) // C1
    return failure();
  ShapedType type = shapedOf(getInput());
  if (isa<RankedTensorType>(type) && !type.getElementType().isF32()) // C3
    return emitOpError() << "input is " << type
                         << " but must be f32 [rows, columns]";
  return verifyName(*this, getName()); // C2
}
