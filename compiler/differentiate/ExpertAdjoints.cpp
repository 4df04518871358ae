// The adjoints of routing: dispatch and combine are each other's; the choice of
// experts has no gradient, their weights have.
#include "compiler/differentiate/Adjoint.h"

using namespace mlir;
using namespace mille::transformer;

namespace mille::differentiate {

namespace {

// The experts of the rows that were sent to slots, found at their dispatch.
Value expertsOf(Value slots) {
  llvm::SmallVector<Value> next{slots};
  while (!next.empty()) {
    Operation *op = next.pop_back_val().getDefiningOp();
    if (!op)
      continue;
    if (auto dispatch = dyn_cast<DispatchOp>(op))
      return dispatch.getExperts();
    if (auto linear = dyn_cast<LinearOp>(op); linear && linear.getExperts())
      return linear.getExperts();
    llvm::append_range(next, op->getOperands());
  }
  return {};
}

bool isRouted(Value weights, const Primal &primal) {
  return weights && primal.isActive(weights);
}

// What the gradients of `op`'s rows and of its weights read.
template <typename Op>
SmallVector<Value> readsOf(Op op, Value experts, const Primal &primal) {
  SmallVector<Value> values;
  if (experts)
    values.push_back(experts);
  if (op.getWeights())
    values.push_back(op.getWeights());
  if (isRouted(op.getWeights(), primal))
    values.push_back(op.getInput());
  return values;
}

} // namespace

template <> SmallVector<Value> reads<RouteOp>(RouteOp op, const Primal &) {
  return {op.getLogits(), op.getExperts()};
}
template <>
LogicalResult adjoint<RouteOp>(RouteOp op, OpBuilder &builder,
                               ValueRange gradients, Primal &primal,
                               Gradients &into) {
  if (!gradients[1])
    return success();
  into[0] = RouteGradientOp::create(
      builder, op.getLoc(), gradients[1], primal.at(op.getLogits()),
      primal.at(op.getExperts()), op.getScoreAttr(), op.getRenormalisedAttr(),
      op.getSoftmaxChosenAttr(), op.getEpsilonAttr(), op.getFactorAttr());
  return success();
}

template <>
SmallVector<Value> reads<DispatchOp>(DispatchOp op, const Primal &primal) {
  return readsOf(op, op.getExperts(), primal);
}
template <>
LogicalResult adjoint<DispatchOp>(DispatchOp op, OpBuilder &builder,
                                  ValueRange gradients, Primal &primal,
                                  Gradients &into) {
  Value g = gradients.front();
  Value weights = op.getWeights() ? primal.at(op.getWeights()) : Value();
  into[0] = CombineOp::create(builder, op.getLoc(), op.getInput().getType(), g,
                              weights);
  if (isRouted(op.getWeights(), primal))
    into[2] =
        SlotProductsOp::create(builder, op.getLoc(), op.getWeights().getType(),
                               g, primal.at(op.getInput()));
  return success();
}

template <>
SmallVector<Value> reads<CombineOp>(CombineOp op, const Primal &primal) {
  return readsOf(op, expertsOf(op.getInput()), primal);
}
template <>
LogicalResult adjoint<CombineOp>(CombineOp op, OpBuilder &builder,
                                 ValueRange gradients, Primal &primal,
                                 Gradients &into) {
  Value g = gradients.front(), experts = expertsOf(op.getInput());
  if (!experts)
    return op.emitOpError("combines slots that no dispatch has made, so the "
                          "model cannot be trained");
  Value weights = op.getWeights() ? primal.at(op.getWeights()) : Value();
  into[0] = DispatchOp::create(builder, op.getLoc(), op.getInput().getType(), g,
                               primal.at(experts), weights);
  if (isRouted(op.getWeights(), primal))
    into[1] =
        SlotProductsOp::create(builder, op.getLoc(), op.getWeights().getType(),
                               primal.at(op.getInput()), g);
  return success();
}

template <>
SmallVector<Value> reads<RouteSharesOp>(RouteSharesOp op, const Primal &) {
  return {op.getLogits()};
}
template <>
LogicalResult adjoint<RouteSharesOp>(RouteSharesOp op, OpBuilder &builder,
                                     ValueRange gradients, Primal &primal,
                                     Gradients &into) {
  into[0] = SharesGradientOp::create(builder, op.getLoc(), gradients.front(),
                                     primal.at(op.getLogits()));
  return success();
}

void attachExpertAdjoints(MLIRContext *context) {
  attachAdjoints<RouteOp, DispatchOp, CombineOp, RouteSharesOp>(context);
}

} // namespace mille::differentiate
