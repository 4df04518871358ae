// Finds the rows of each value after its leading dimensions are flattened.
// Must not make kernels, only the sizes of their destinations.
#include "compiler/fuse/Converter.h"
#include "dialects/transformer/Grid.h"

using namespace mlir;
using namespace mille;

std::string Space::text() const {
  std::string text = "batch";
  if (!perSequence())
    text += " * " + (size.empty() ? std::to_string(count) : size.str());
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
    space.size = "";
    space.count = tensor.getDimSize(1);
  } else if (space.perSequence()) {
    space.size = sizes::tokens;
  }
  if (ids || tensor.getRank() != 4) {
    space.slots = 1;
    space.route = nullptr;
  }
  return space;
}

// The size of the rows of a state in a sequence.
static StringRef rowsOfState(func::FuncOp function, Value state) {
  auto argument = dyn_cast<BlockArgument>(state);
  auto shape = argument ? function.getArgAttrOfType<transformer::ShapeAttr>(
                              argument.getArgNumber(), "transformer.shape")
                        : transformer::ShapeAttr();
  auto size = shape && shape.getExtents().size() == 4
                  ? dyn_cast<StringAttr>(shape.getExtents()[2])
                  : StringAttr();
  return size ? size.getValue() : StringRef(sizes::tokens);
}

// Whether the op has a row for each token of the run, whatever it reads.
static bool isOfRun(Operation *op) {
  auto count = dyn_cast<transformer::CountTokensOp>(op);
  return isa<transformer::PositionsOp>(op) || (count && count.getPast());
}

void Converter::recordSpaces(Operation *op) {
  Space from = op->getNumOperands() ? spaceOf(op->getOperand(0)) : Space();
  if (op->getNumOperands())
    if (auto grid = transformer::gridOf(op->getOperand(0)))
      from.size = grid.getTokens();
  if (StringRef moved = transformer::movedTokens(op); !moved.empty())
    from.size = moved;
  if (auto remember = dyn_cast<transformer::RememberOp>(op))
    from.size = rowsOfState(function, remember.getState());
  else if (auto recall = dyn_cast<transformer::RecallOp>(op))
    from.size = rowsOfState(function, recall.getState());
  else if (isOfRun(op))
    from.size = sizes::tokens;
  for (Value result : op->getResults())
    spaces[result] = spaceOf(result.getType(), from);
}

Value Converter::tokensOf(Space space) {
  if (!space.size.empty())
    return runSizes.lookup(space.size);
  int64_t count = space.perSequence() ? 1 : space.count;
  Value &known = rowCounts[{"", count, 0}];
  if (!known)
    known = arith::ConstantIndexOp::create(head, function.getLoc(), count);
  return known;
}

Value Converter::rowsOf(Space space) {
  if (space.perSequence())
    return batch;
  Value &known = rowCounts[{space.size.str(), space.count, space.slots}];
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

transformer::ShapeAttr Converter::shapeOf(Type type, Space space) {
  Shape shape;
  for (int64_t extent : cast<RankedTensorType>(type).getShape())
    if (!ShapedType::isDynamic(extent))
      shape.push_back(extent);
    else if (shape.empty())
      shape.push_back(sizes::batch);
    else if (space.perSequence())
      shape.push_back(sizes::tokens);
    else
      shape.push_back(space.size.empty() ? ShapeExtent(space.count)
                                         : ShapeExtent(space.size));
  return transformer::ShapeAttr::get(type.getContext(), shape);
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
