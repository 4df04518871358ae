// Converts experts and their gradients from `transformer` to `kernel`: rows are
// sorted by expert once, and all rows between a dispatch and its combine are in
// that order.
// Must not fuse, except biases of experts, which only a matmul can read.
#include "compiler/fuse/Activations.h"
#include "compiler/fuse/Converter.h"

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

LogicalResult Converter::convertExperts(RouteOp op) {
  Location location = op.getLoc();
  Value selection;
  if (op.getSelectionBiasAttr()) {
    selection = weight(location, op.getSelectionBiasAttr());
    if (!selection)
      return failure();
  }
  Space slots = spaceOf(op.getLogits());
  slots.slots = op.getK();
  auto starts = RankedTensorType::get({channelsOf(op.getLogits()) + 1},
                                      body.getI32Type());
  SmallVector<Value> outs{
      makeDestination(body, location, rowsOf(op.getLogits()), op.getK()),
      makeIndices(body, location, rowsOf(slots)),
      makeIndices(body, location, rowsOf(slots)),
      tensor::EmptyOp::create(body, location, starts, ValueRange())};
  auto route = kernel::RouteOp::create(
      body, location, TypeRange(ValueRange(outs)), valueOf(op.getLogits()),
      selection, outs, op.getKAttr(), op.getScoreAttr(), op.getGroupsAttr(),
      op.getTopGroupsAttr(), op.getGroupScoreAttr(), op.getRenormalisedAttr(),
      op.getSoftmaxChosenAttr(), op.getEpsilonAttr(), op.getFactorAttr());
  ResultRange made = route.getOutcomes();
  routings[op] = {made[0], made[1], made[2], made[3], Value()};
  values[op.getWeights()] = made[0];
  return success();
}

LogicalResult Converter::convertExperts(DispatchOp op) {
  auto route = op.getExperts().getDefiningOp<RouteOp>();
  if (!route || op.getExperts() != route.getExperts())
    return op.emitOpError("has experts that no transformer.route chose");
  if (op.getWeights() && op.getWeights() != route.getWeights())
    return op.emitOpError("has weights that are not those of its route");
  const Routing &routing = routings[route];
  Space space = spaceOf(op.getInput());
  if (space != spaceOf(route.getLogits()))
    return op.emitOpError("sends rows of ")
           << space.text() << " by a route of "
           << spaceOf(route.getLogits()).text();
  int64_t k = route.getK();
  space.slots = k;
  space.route = route;
  spaces[op.getResult()] = space;
  Value to = destinationOf(op.getResult());
  values[op.getResult()] =
      kernel::DispatchOp::create(body, op.getLoc(), to.getType(),
                                 valueOf(op.getInput()), routing.order,
                                 routing.place,
                                 op.getWeights() ? routing.weights : Value(),
                                 to, body.getI64IntegerAttr(k))
          .getResult();
  return success();
}

LogicalResult Converter::convertExperts(CombineOp op) {
  Space space = spaceOf(op.getInput());
  auto route = dyn_cast_or_null<RouteOp>(space.route);
  if (!route)
    return op.emitOpError("reads rows that no transformer.dispatch sent");
  if (op.getWeights() && op.getWeights() != route.getWeights())
    return op.emitOpError("has weights that are not those of its rows' route");
  const Routing &routing = routings[route];
  Value to = destinationOf(op.getResult());
  values[op.getResult()] =
      kernel::CombineOp::create(body, op.getLoc(), to.getType(),
                                valueOf(op.getInput()), routing.place,
                                op.getWeights() ? routing.weights : Value(), to,
                                body.getI64IntegerAttr(space.slots))
          .getResult();
  return success();
}

Converter::Routing *Converter::routingOf(Operation *op, Value experts) {
  auto route = experts.getDefiningOp<RouteOp>();
  if (route && experts == route.getExperts())
    return &routings[route];
  op->emitOpError("has experts that no transformer.route chose");
  return nullptr;
}

LogicalResult Converter::convertExpertLinear(LinearOp op) {
  Routing *routing = routingOf(op, op.getExperts());
  if (!routing)
    return failure();
  if (spaceOf(op.getInput()).route != op.getExperts().getDefiningOp())
    return op.emitOpError("reads rows that were not sent to its experts");
  Value matrix = weight(op.getLoc(), op.getWeightAttr());
  if (!matrix)
    return failure();
  if (op.getTransposed() || isTrained())
    matrix = packed(op.getLoc(), matrix, op.getTransposed(), routing->starts);
  SmallVector<Value> extras;
  if (op.getBiasAttr()) {
    extras.push_back(weight(op.getLoc(), op.getBiasAttr()));
    if (!extras.back())
      return failure();
  }
  double scale = op.getScale().convertToDouble();
  values[op.getResult()] =
      makeMatmul(body, op.getLoc(), valueOf(op.getInput()), matrix,
                 routing->starts, extras, 1, destinationOf(op.getResult()),
                 [&](OpBuilder &builder, Location location, ValueRange x) {
                   return scaledPlusBias(builder, location, scale, x);
                 });
  return success();
}

//===-- gradients ---------------------------------------------------------===//

LogicalResult Converter::convertExperts(RouteGradientOp op) {
  Routing *routing = routingOf(op, op.getExperts());
  if (!routing || failed(sameRows(op, {op.getLogits(), op.getGradient()})))
    return failure();
  Value to = destinationOf(op.getResult());
  values[op.getResult()] =
      kernel::RouteGradientOp::create(
          body, op.getLoc(), to.getType(), valueOf(op.getGradient()),
          valueOf(op.getLogits()), routing->place, routing->starts, to,
          op.getScoreAttr(), op.getRenormalisedAttr(),
          op.getSoftmaxChosenAttr(), op.getEpsilonAttr(), op.getFactorAttr())
          .getResult();
  return success();
}

LogicalResult Converter::convertExperts(RouteSharesOp op) {
  Routing *routing = routingOf(op, op.getExperts());
  if (!routing)
    return failure();
  Value to = destinationOf(op.getResult());
  values[op.getResult()] =
      kernel::RouteSharesOp::create(
          body, op.getLoc(), to.getType(), valueOf(op.getLogits()),
          routing->place, routing->starts, channelsOf(op.getExperts()), to)
          .getResult();
  return success();
}

LogicalResult Converter::convertExperts(SharesGradientOp op) {
  if (failed(sameRows(op, {op.getLogits(), op.getGradient()})))
    return failure();
  Value to = destinationOf(op.getResult());
  values[op.getResult()] =
      kernel::SharesGradientOp::create(body, op.getLoc(), to.getType(),
                                       valueOf(op.getGradient()),
                                       valueOf(op.getLogits()), to)
          .getResult();
  return success();
}

LogicalResult Converter::convertExperts(BalanceLossOp op) {
  if (failed(sameRows(op, {op.getShares(), op.getLosses()})))
    return failure();
  spaces[op.getGradient()] = spaces[op.getTotal()] = spaceOf(op.getShares());
  SmallVector<Value> outs{
      makeDestination(body, op.getLoc(), rowsOf(op.getShares()), 1),
      destinationOf(op.getGradient())};
  auto loss = kernel::BalanceLossOp::create(
      body, op.getLoc(), TypeRange(ValueRange(outs)), valueOf(op.getLosses()),
      valueOf(op.getShares()),
      op.getKeyMask() ? valueOf(op.getKeyMask()) : Value(), outs, op.getKAttr(),
      op.getFactorAttr());
  values[op.getTotal()] = loss.getResults()[0];
  values[op.getGradient()] = loss.getResults()[1];
  return success();
}

LogicalResult Converter::convertExperts(SlotProductsOp op) {
  Space space = spaceOf(op.getSlots());
  if (!isa_and_nonnull<RouteOp>(space.route))
    return op.emitOpError("reads rows that no transformer.dispatch sent");
  Value to = destinationOf(op.getResult());
  values[op.getResult()] =
      kernel::SlotProductsOp::create(
          body, op.getLoc(), to.getType(), valueOf(op.getSlots()),
          valueOf(op.getRow()), routings[space.route].place, to)
          .getResult();
  return success();
}

Value Converter::sortedExperts(Location location, Routing &routing,
                               Value rows) {
  if (!routing.experts) {
    Value to = makeIndices(body, location, rows);
    routing.experts = kernel::ExpertsOp::create(body, location, to.getType(),
                                                routing.starts, to)
                          .getResult();
  }
  return routing.experts;
}

// A bias has a row for each expert: its gradient is that of a table.
LogicalResult Converter::addExpertBias(WeightGradientOp op, Routing &routing) {
  Value to = gradientOf(op, op.getBiasAttr());
  if (!to)
    return failure();
  kernel::EmbedGradientOp::create(
      body, op.getLoc(), to.getType(), valueOf(op.getGradient()),
      sortedExperts(op.getLoc(), routing, rowsOf(op.getGradient())), to);
  return success();
}

// Both read the same logits, which the loop back finds saved where it finds
// rows of experts saved.
Operation *Converter::repeatedRoute(Block &block, Operation *route) {
  for (RouteOp again : block.getOps<RouteOp>())
    if (auto logits = again.getLogits().getDefiningOp<SavedOp>();
        logits && savedValues.lookup(logits.getName()) ==
                      cast<RouteOp>(route).getLogits())
      return again;
  return route;
}
