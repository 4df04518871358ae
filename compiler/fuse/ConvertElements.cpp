// Converts elementwise ops to scalar regions of `rows`. Must not fuse.
#include "compiler/fuse/Activations.h"
#include "compiler/fuse/Converter.h"

#include <cmath>

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

LogicalResult Converter::convertElementwise(Operation *op, Scalar scalar) {
  if (failed(sameRows(op, op->getOperands())))
    return failure();
  RowsParts spec;
  for (Value operand : op->getOperands())
    spec.inputs.push_back(valueOf(operand));
  Value result = op->getResult(0);
  values[result] = makeRows(body, op->getLoc(), spec, rowsOf(result),
                            channelsOf(result), scalar);
  return success();
}

LogicalResult Converter::convertGate(GateOp op) {
  double offset = op.getUpOffset().convertToDouble();
  return convertElementwise(
      op, [&](OpBuilder &builder, Location location, ValueRange x) -> Value {
        Value active =
            applyActivation(builder, location, op.getFunction(), x[0]);
        Value up = x[1];
        if (offset != 0)
          up = arith::AddFOp::create(builder, location, up,
                                     constant(builder, location, offset));
        return arith::MulFOp::create(builder, location, active, up);
      });
}

LogicalResult Converter::convertSoftcap(SoftcapOp op) {
  double cap = op.getCap().convertToDouble();
  return convertElementwise(
      op, [&](OpBuilder &builder, Location location, ValueRange x) -> Value {
        Value limit = constant(builder, location, cap);
        Value share = arith::DivFOp::create(builder, location, x[0], limit);
        Value bent = math::TanhOp::create(builder, location, share);
        return arith::MulFOp::create(builder, location, limit, bent);
      });
}

LogicalResult Converter::convertClamp(ClampOp op) {
  double low = op.getLow().convertToDouble(),
         high = op.getHigh().convertToDouble();
  return convertElementwise(
      op, [&](OpBuilder &builder, Location location, ValueRange x) -> Value {
        Value y = x[0];
        if (!std::isinf(low))
          y = arith::MaximumFOp::create(builder, location, y,
                                        constant(builder, location, low));
        if (!std::isinf(high))
          y = arith::MinimumFOp::create(builder, location, y,
                                        constant(builder, location, high));
        return y;
      });
}

LogicalResult Converter::convertAffine(AffineOp op) {
  if (similarityOf(op.getResult()))
    return success(); // convertReturn puts it into the operands
  RowsParts spec;
  spec.inputs.push_back(valueOf(op.getInput()));
  int holders[2] = {-1, -1}; // the arguments of scale and shift, -1: constant
  const ScaleAttr scales[] = {op.getScaleAttr(), op.getShiftAttr()};
  for (auto [i, scale] : llvm::enumerate(scales)) {
    auto operand = scaleOperand(op, i == 0 ? "scale" : "shift", scale);
    if (failed(operand))
      return failure();
    if (!*operand)
      continue;
    holders[i] = spec.inputs.size();
    spec.inputs.push_back(*operand);
  }
  values[op.getResult()] =
      makeRows(body, op.getLoc(), spec, rowsOf(op.getResult()),
               channelsOf(op.getResult()),
               [&](OpBuilder &builder, Location location, ValueRange x) {
                 auto number = [&](ScaleAttr scale, int holder) -> Value {
                   return holder >= 0 ? x[holder]
                          : scale
                              ? constant(builder, location, scale.getValue())
                              : Value();
                 };
                 Value y = x[0];
                 if (Value scale = number(op.getScaleAttr(), holders[0]))
                   y = arith::MulFOp::create(builder, location, scale, y);
                 if (Value shift = number(op.getShiftAttr(), holders[1]))
                   y = arith::AddFOp::create(builder, location, y, shift);
                 return y;
               });
  return success();
}
