// Converts gradients of what is computed element by element or row by row, and
// of scales, from `transformer` to `kernel`. Must not fuse.
#include "compiler/fuse/Activations.h"
#include "compiler/fuse/Converter.h"
#include "compiler/fuse/ScalarDerivative.h"

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

LogicalResult Converter::addColumns(Operation *op, ValueRange factors,
                                    Attribute parameter) {
  Value to = gradientOf(op, parameter);
  if (!to)
    return failure();
  const auto wanted = cast<ShapedType>(to.getType()).getShape(),
             given = cast<ShapedType>(factors[0].getType()).getShape();
  if (wanted.size() != 1 || wanted[0] != given.back())
    return op->emitOpError("sums ")
           << given.back() << " columns but the gradient of " << parameter
           << " is " << to.getType() << ", which no kernel trains yet";
  auto sums = kernel::ColumnSumsOp::create(body, op->getLoc(), to.getType(),
                                           factors, to);
  fillScalarRegion(body, op->getLoc(), sums.getBody(), factors.size(),
                   [](OpBuilder &builder, Location location, ValueRange x) {
                     Value product = x[0];
                     for (Value next : x.drop_front())
                       product = arith::MulFOp::create(builder, location,
                                                       product, next);
                     return product;
                   });
  return success();
}

LogicalResult Converter::convertScaleGradient(ScaleGradientOp op) {
  SmallVector<Value> factors{valueOf(op.getGradient())};
  if (op.getInput())
    factors.push_back(valueOf(op.getInput()));
  return addColumns(op, factors, op.getScaleAttr());
}

LogicalResult Converter::convertNormGradient(NormGradientOp op) {
  NormAttr norm = op.getNorm();
  auto kind = kernel::rowNormKindOf(norm.getKind());
  if (!kind || norm.getAffine() == Affine::one_plus_weight)
    return op.emitOpError("is of ") << norm << ", which no kernel trains yet";
  if (failed(sameRows(op, {op.getGradient(), op.getInput()})))
    return failure();
  Value arriving = valueOf(op.getGradient()), weight;
  const int64_t columns = channelsOf(op.getInput());
  if (norm.getWeight()) {
    auto type = typeOf(op.getLoc(), norm.getWeight());
    if (failed(type))
      return failure();
    if (type->getNumElements() != columns)
      return op.emitOpError("repeats ")
             << norm.getWeight() << ", which no kernel trains yet";
    weight = this->weight(op.getLoc(), norm.getWeight());
    if (!weight)
      return failure();
  }
  SmallVector<Value> outs{destinationOf(op.getInput())};
  if (weight)
    outs.push_back(destinationOf(op.getInput()));
  SmallVector<Type> types(outs.size(), outs[0].getType());
  auto backward = kernel::NormBackwardOp::create(
      body, op.getLoc(), types, arriving, valueOf(op.getInput()), weight, outs,
      kernel::RowNormAttr::get(op.getContext(), *kind, norm.getEps(),
                               norm.getGroup()));
  values[op.getResult()] = backward.getResults()[0];
  if (weight && failed(addColumns(op, {arriving, backward.getResults()[1]},
                                  norm.getWeight())))
    return failure();
  return norm.getBias() ? addColumns(op, arriving, norm.getBias()) : success();
}

namespace {

// f(x) of the forward op.
Value functionOf(OpBuilder &builder, Location location, ActivateGradientOp op,
                 Value x) {
  if (auto function = op.getFunction())
    return applyActivation(builder, location, *function, x);
  if (auto cap = op.getCap()) {
    Value limit = constant(builder, location, cap->convertToDouble());
    Value share = arith::DivFOp::create(builder, location, x, limit);
    return arith::MulFOp::create(
        builder, location, limit,
        math::TanhOp::create(builder, location, share));
  }
  if (auto low = op.getLow(); low && !low->isInfinity())
    x = arith::MaximumFOp::create(
        builder, location, x,
        constant(builder, location, low->convertToDouble()));
  if (auto high = op.getHigh(); high && !high->isInfinity())
    x = arith::MinimumFOp::create(
        builder, location, x,
        constant(builder, location, high->convertToDouble()));
  return x;
}

} // namespace

LogicalResult Converter::convertActivateGradient(ActivateGradientOp op) {
  SmallVector<Value> originals{op.getGradient(), op.getInput()};
  if (op.getUp())
    originals.push_back(op.getUp());
  if (failed(sameRows(op, originals)))
    return failure();
  RowsSpec spec;
  for (Value original : originals)
    spec.inputs.push_back(valueOf(original));
  Value rows = rowsOf(op.getInput());
  const int64_t columns = channelsOf(op.getInput());
  auto toInput = [&](OpBuilder &builder, Location location,
                     ValueRange x) -> Value {
    Value y = functionOf(builder, location, op, x[1]);
    Value slope = derivativeOf(builder, y, x[1]);
    if (!slope)
      return constant(builder, location, 0);
    Value sum = arith::MulFOp::create(builder, location, x[0], slope);
    if (!op.getUp())
      return sum;
    Value up = x[2];
    if (const double offset = op.getUpOffset().convertToDouble(); offset != 0)
      up = arith::AddFOp::create(builder, location, up,
                                 constant(builder, location, offset));
    return arith::MulFOp::create(builder, location, sum, up);
  };
  values[op.getResults()[0]] =
      makeRows(body, op.getLoc(), spec, rows, columns, toInput);
  if (!op.getUp())
    return success();
  spec.inputs.pop_back();
  values[op.getResults()[1]] = makeRows(
      body, op.getLoc(), spec, rows, columns,
      [&](OpBuilder &builder, Location location, ValueRange x) {
        Value y = functionOf(builder, location, op, x[1]);
        return arith::MulFOp::create(builder, location, x[0], y).getResult();
      });
  return success();
}
