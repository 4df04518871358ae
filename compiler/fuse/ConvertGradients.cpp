// Converts gradients of what is computed element by element or row by row, and
// of scales, from `transformer` to `kernel`. Must not fuse.
#include "compiler/fuse/Activations.h"
#include "compiler/fuse/Converter.h"
#include "compiler/fuse/ScalarDerivative.h"

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

LogicalResult Converter::addColumns(Operation *op, ValueRange factors,
                                    Attribute parameter,
                                    ArrayRef<int64_t> numbers) {
  Value to = gradientOf(op, parameter);
  if (!to)
    return failure();
  auto sums = kernel::ColumnSumsOp::create(
      body, op->getLoc(), to.getType(), factors, to,
      numbers.empty() ? DenseI64ArrayAttr()
                      : body.getDenseI64ArrayAttr(numbers));
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

// gradient * (1 + weight)
Value Converter::timesOnePlus(Location location, Value gradient, Value weight,
                              Value like) {
  RowsParts spec;
  spec.inputs = {gradient, weight};
  return makeRows(body, location, spec, rowsOf(like), channelsOf(like),
                  [](OpBuilder &builder, Location at, ValueRange x) -> Value {
                    Value one = constant(builder, at, 1);
                    Value factor =
                        arith::AddFOp::create(builder, at, x[1], one);
                    return arith::MulFOp::create(builder, at, x[0], factor);
                  });
}

LogicalResult Converter::convertNormGradient(NormGradientOp op) {
  NormAttr norm = op.getNorm();
  auto kind = kernel::rowNormKindOf(norm.getKind());
  if (!kind)
    return op.emitOpError("is of ") << norm << ", which no kernel trains yet";
  if (failed(sameRows(op, {op.getGradient(), op.getInput()})))
    return failure();
  Value arriving = valueOf(op.getGradient()), weight, times = arriving;
  const int64_t columns = channelsOf(op.getInput());
  if (norm.getWeight()) {
    weight = normWeight(op.getLoc(), norm.getWeight(), columns);
    if (!weight)
      return failure();
  }
  const bool plusOne = norm.getAffine() == Affine::one_plus_weight;
  if (plusOne)
    times = timesOnePlus(op.getLoc(), arriving, weight, op.getInput());
  SmallVector<Value> outs{destinationOf(op.getInput())};
  if (weight)
    outs.push_back(destinationOf(op.getInput()));
  SmallVector<Type> types(outs.size(), outs[0].getType());
  auto backward = kernel::NormBackwardOp::create(
      body, op.getLoc(), types, times, valueOf(op.getInput()),
      plusOne ? Value() : weight, outs,
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
  RowsParts spec;
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
