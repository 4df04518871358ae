// Finds the row space of a buffer from its destination, tensor.empty(%rows).
// Must not guess: it returns nothing if it cannot tell.
#include "dialects/kernel/RowSpace.h"
#include "dialects/kernel/Signature.h"

using namespace mlir;

namespace mille::kernel {

namespace {

// A product: the number of factors `batch` in it, and the other factors.
struct Product {
  int64_t batches = 0;
  RowSpace space;
};

// `depth`: the most that products may nest, since a program that does not
// verify may go in circles.
std::optional<Product> productOf(Value size, int depth = 64) {
  if (depth == 0)
    return std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(size)) {
    auto forward = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    StringRef name =
        forward ? sizeName(forward, argument.getArgNumber()) : StringRef();
    if (name.empty())
      return std::nullopt;
    return name == sizes::batch ? Product{1, {}} : Product{0, {name, 1}};
  }
  if (auto constant = size.getDefiningOp<arith::ConstantOp>())
    if (auto number = dyn_cast<IntegerAttr>(constant.getValue()))
      return Product{0, {StringRef(), number.getInt()}};
  auto multiply = size.getDefiningOp<arith::MulIOp>();
  if (!multiply)
    return std::nullopt;
  auto left = productOf(multiply.getLhs(), depth - 1),
       right = productOf(multiply.getRhs(), depth - 1);
  if (!left || !right ||
      (!left->space.size.empty() && !right->space.size.empty()))
    return std::nullopt;
  return Product{
      left->batches + right->batches,
      {left->space.size.empty() ? right->space.size : left->space.size,
       left->space.times * right->space.times}};
}

std::optional<RowSpace> rowSpaceOfArgument(BlockArgument argument) {
  auto forward = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto type = dyn_cast<ShapedType>(argument.getType());
  if (!forward || !type)
    return std::nullopt;
  auto shape = forward.getArgAttrOfType<transformer::ShapeAttr>(
      argument.getArgNumber(), "transformer.shape");
  if (!shape)
    return std::nullopt;
  return rowSpaceOfShape(shape, type);
}

} // namespace

std::optional<RowSpace> rowSpaceOfSize(Value size) {
  auto product = productOf(size);
  if (!product || product->batches != 1 || product->space.times < 1)
    return std::nullopt;
  return product->space;
}

std::optional<RowSpace> perSequenceOf(Value size) {
  auto product = productOf(size);
  if (!product || product->batches != 0 || product->space.times < 1)
    return std::nullopt;
  return product->space;
}

// The value that another one takes its rows from; null for the last one.
static Value rowsFrom(Value tensor) {
  if (auto result = dyn_cast<OpResult>(tensor)) {
    auto source = dyn_cast<RowSource>(result.getOwner());
    return source ? source.getRowsLike(result.getResultNumber()) : Value();
  }
  auto argument = cast<BlockArgument>(tensor);
  auto layers = dyn_cast<LayersOp>(argument.getOwner()->getParentOp());
  return layers ? layers.getRowsLike(argument.getArgNumber()) : Value();
}

std::optional<RowSpace> rowSpaceOf(Value tensor) {
  // A program that does not verify may go in circles.
  for (int steps = 0; steps < 100000; ++steps) {
    auto type = dyn_cast<ShapedType>(tensor.getType());
    if (!type || !type.hasRank() || type.getRank() == 0 ||
        !type.isDynamicDim(0))
      return std::nullopt;
    if (Value like = rowsFrom(tensor)) {
      tensor = like;
      continue;
    }
    if (auto argument = dyn_cast<BlockArgument>(tensor))
      return rowSpaceOfArgument(argument);
    for (Value operand : tensor.getDefiningOp()->getOperands())
      if (operand.getType().isIndex())
        return rowSpaceOfSize(operand);
    return std::nullopt;
  }
  return std::nullopt;
}

RowSpace rowSpaceOfShape(transformer::ShapeAttr shape, ShapedType type) {
  RowSpace space;
  if (llvm::count_if(shape.getExtents(), llvm::IsaPred<StringAttr>) > 2)
    return space; // more than the batch and one size
  for (Attribute extent : shape.getExtents())
    if (auto number = dyn_cast<IntegerAttr>(extent))
      space.times *= number.getInt();
    else if (StringRef name = cast<StringAttr>(extent).getValue();
             name != sizes::batch)
      space.size = name;
  for (int64_t extent : type.getShape().drop_front())
    if (!ShapedType::isDynamic(extent) && extent > 0)
      space.times /= extent;
  return space;
}

} // namespace mille::kernel
