// Layers add what their rows have chosen to one sum, so that the program does
// not grow with depth. Must not know how the sum becomes a loss.
#include "compiler/differentiate/Balance.h"
#include "dialects/transformer/Symbols.h"
#include "dialects/transformer/Transformer.h"

using namespace mlir;
using namespace mille::transformer;

namespace mille::differentiate {

namespace {

constexpr llvm::StringLiteral sumName = "balance";

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<ShapedType>(value.getType()).getShape();
}

// A value of the function's own block with as many rows as a router has: what
// the outermost op around it reads.
Value outsideOf(RouteOp route, func::FuncOp function) {
  Operation *op = function.getBody().front().findAncestorOpInBlock(*route);
  return op == route ? route.getLogits() : op->getOperand(0);
}

LogicalResult check(func::FuncOp step, ArrayRef<RouteOp> routes, double factor,
                    Value losses) {
  auto refuse = [&](Operation *at) {
    return at->emitError() << "expert_balance is " << formatDouble(factor)
                           << " but ";
  };
  if (routes.empty())
    return refuse(step) << "the model has no experts";
  RouteOp first = routes.front();
  for (RouteOp route : routes) {
    Value logits = route.getLogits(), other = first.getLogits();
    if (shapeOf(logits).back() != shapeOf(other).back() ||
        route.getK() != first.getK())
      return refuse(route) << "layers choose " << first.getK() << " of "
                           << shapeOf(other).back() << " and " << route.getK()
                           << " of " << shapeOf(logits).back() << " experts";
    if (shapeOf(logits).drop_back() != shapeOf(losses))
      return refuse(route) << "there is no loss for each row of a router";
  }
  return success();
}

} // namespace

FailureOr<Balance> addBalance(func::FuncOp step, OpBuilder &builder,
                              double factor, Value losses, Value mask) {
  SmallVector<RouteOp> routes;
  step.walk([&](RouteOp route) {
    if (shapeOf(route.getLogits()).back() != 1) // else a gate
      routes.push_back(route);
  });
  if (failed(check(step, routes, factor, losses)))
    return failure();
  RankedTensorType type;
  for (RouteOp route : routes) {
    OpBuilder inside(route->getContext());
    inside.setInsertionPointAfter(route);
    SmallVector<int64_t> shape(shapeOf(route.getLogits()));
    shape.back() *= 2;
    type = RankedTensorType::get(shape, inside.getF32Type());
    Value shares = RouteSharesOp::create(inside, route.getLoc(), type,
                                         route.getLogits(), route.getExperts());
    CollectOp::create(inside, route.getLoc(), shares, outsideOf(route, step),
                      sumName);
  }
  Location location = losses.getLoc();
  Value shares = CollectedOp::create(builder, location, type, sumName,
                                     outsideOf(routes.back(), step));
  auto loss = BalanceLossOp::create(
      builder, location, TypeRange{losses.getType(), type}, losses, shares,
      mask, routes.front().getKAttr(), builder.getF64FloatAttr(factor));
  return Balance{loss.getTotal(), shares, loss.getGradient()};
}

} // namespace mille::differentiate
