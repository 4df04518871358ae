// Finds the rows of each value after its leading dimensions are flattened.
// Must not make kernels, only the sizes of their destinations.
#include "compiler/fuse/Converter.h"

using namespace mlir;
using namespace mille;

std::string Space::text() const {
  std::string text = "batch";
  if (tokens == Tokens::run)
    text += " * tokens";
  if (tokens == Tokens::decoder)
    text += " * decoder_tokens";
  if (tokens == Tokens::fixed)
    text += " * " + std::to_string(count);
  if (route)
    text += " * " + std::to_string(slots) + " slots";
  return text;
}

Space Converter::spaceOf(Type type, Space from) const {
  Space space;
  auto tensor = dyn_cast<RankedTensorType>(type);
  bool ids = tensor && tensor.getElementType().isInteger();
  if (!tensor || tensor.getRank() < (ids ? 2 : 3))
    return space;
  space = from;
  if (!tensor.isDynamicDim(1)) {
    space.tokens = Space::Tokens::fixed;
    space.count = tensor.getDimSize(1);
  } else if (space.tokens == Space::Tokens::none) {
    space.tokens = Space::Tokens::run;
  }
  if (ids || tensor.getRank() != 4) {
    space.slots = 1;
    space.route = nullptr;
  }
  return space;
}

void Converter::recordSpaces(Operation *op) {
  Space from = op->getNumOperands() ? spaceOf(op->getOperand(0)) : Space();
  for (Value result : op->getResults())
    spaces[result] = spaceOf(result.getType(), from);
}

Value Converter::tokensOf(Space space) {
  if (space.tokens == Space::Tokens::run)
    return tokens;
  if (space.tokens == Space::Tokens::decoder)
    return decoderTokens;
  int64_t count = space.tokens == Space::Tokens::fixed ? space.count : 1;
  Value &known = rowCounts[{-1, count, 0}];
  if (!known)
    known = arith::ConstantIndexOp::create(head, function.getLoc(), count);
  return known;
}

Value Converter::rowsOf(Space space) {
  if (space.tokens == Space::Tokens::none)
    return batch;
  Value &known = rowCounts[{int64_t(space.tokens), space.count, space.slots}];
  if (known)
    return known;
  Location location = function.getLoc();
  Value left = batch, right;
  if (space.slots > 1) {
    Space one = space;
    one.slots = 1;
    left = rowsOf(one);
    right = arith::ConstantIndexOp::create(head, location, space.slots);
  } else {
    right = tokensOf(space);
  }
  return known = arith::MulIOp::create(head, location, left, right);
}

DenseI64ArrayAttr Converter::shapeOf(Type type, Space space) {
  SmallVector<int64_t> shape;
  for (int64_t extent : cast<RankedTensorType>(type).getShape())
    shape.push_back(!ShapedType::isDynamic(extent)           ? extent
                    : shape.empty()                          ? -1
                    : space.tokens == Space::Tokens::decoder ? -3
                    : space.tokens == Space::Tokens::fixed   ? space.count
                                                             : -2);
  return DenseI64ArrayAttr::get(type.getContext(), shape);
}

LogicalResult Converter::sameRows(Operation *op, ValueRange originals) {
  for (Value original : originals.drop_front())
    if (spaceOf(original) != spaceOf(originals.front()))
      return op->emitOpError("reads rows of ")
             << spaceOf(originals.front()).text() << " and of "
             << spaceOf(original).text()
             << (spaceOf(original).text() == spaceOf(originals.front()).text()
                     ? " by another route"
                     : "");
  return success();
}
