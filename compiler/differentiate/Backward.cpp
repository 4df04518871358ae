// Builds the backward pass of a block. Values of the forward pass are taken as
// they are where the function's own block has them, else as saved, else they
// are computed anew.
#include "compiler/differentiate/Backward.h"
#include "compiler/differentiate/Unit.h"

using namespace mlir;
using namespace mille::differentiate;
using namespace mille::transformer;

void Backward::add(Value forward, Value gradient) {
  if (!gradient || !isActive(forward))
    return;
  Value &sum = gradients[forward];
  sum =
      sum ? AddOp::create(builder, gradient.getLoc(), sum, gradient) : gradient;
}

Value Backward::takeGradient(Value forward) {
  auto found = gradients.find(forward);
  if (found == gradients.end())
    return {};
  Value gradient = found->second;
  gradients.erase(found);
  return gradient;
}

void Backward::keepAt(ArrayRef<ResidualOp> units) {
  for (auto [number, unit] : llvm::enumerate(units))
    kept[unit] = int64_t(number);
}

LogicalResult Backward::run(ArrayRef<Operation *> ops) {
  for (Operation *op : llvm::reverse(ops))
    if (failed(visit(op)))
      return failure();
  return success();
}

LogicalResult Backward::visit(Operation *op) {
  if (auto collect = dyn_cast<CollectOp>(op)) {
    add(collect.getValue(), ofSums.lookup(collect.getNameAttr()));
    return success();
  }
  SmallVector<Value> ofResults, ofOperands;
  for (Value result : op->getResults())
    ofResults.push_back(takeGradient(result));
  if (llvm::none_of(ofResults, [](Value gradient) { return bool(gradient); }))
    return success();
  if (auto layers = dyn_cast<LayersOp>(op))
    return runLayers(layers, ofResults.front());
  if (auto sum = dyn_cast<CollectedOp>(op)) {
    ofSums[sum.getNameAttr()] = ofResults.front();
    return success();
  }
  auto differentiable = dyn_cast<DifferentiableOp>(op);
  if (!differentiable)
    return op->emitOpError("has no adjoint, so the model cannot be trained");
  if (failed(
          differentiable.buildAdjoint(builder, ofResults, *this, ofOperands)))
    return failure();
  if (auto unit = kept.find(op); unit != kept.end()) {
    const std::string name = "gradient.unit." + std::to_string(unit->second);
    if (ofOperands.front())
      KeepOp::create(builder, op->getLoc(), ofOperands.front(), name, 0);
    KeepOp::create(builder, op->getLoc(), ofResults.front(), name + ".result",
                   0);
  }
  for (auto [operand, gradient] :
       llvm::zip_equal(op->getOperands(), ofOperands))
    add(operand, gradient);
  return success();
}

FailureOr<Value> Backward::branch(Region &region, Value gradient) {
  Block &block = region.front();
  add(block.getTerminator()->getOperand(0), gradient);
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  if (failed(run(ops)))
    return failure();
  return takeGradient(block.getArgument(0));
}

//===-- the layer loop ----------------------------------------------------===//

// A second loop takes the bodies of the first, whose values have names to be
// saved under; the first gets copies, which save nothing.
static LayersOp takeBodies(LayersOp from, OpBuilder &builder) {
  auto into = cast<LayersOp>(builder.clone(*from));
  for (auto [left, right] :
       llvm::zip_equal(from.getBodyRegions(), into.getBodyRegions())) {
    Region held;
    held.takeBody(left);
    left.takeBody(right);
    right.takeBody(held);
  }
  return into;
}

LogicalResult Backward::runLayers(LayersOp layers, Value gradient) {
  if (!again.contains(layers))
    return runLayersBack(layers, gradient);
  LayersOp second = takeBodies(layers, builder);
  if (failed(runLayersBack(second, gradient)))
    return failure();
  // The first run has added to the sums.
  SmallVector<CollectOp> added;
  second.walk([&](CollectOp collect) { added.push_back(collect); });
  for (CollectOp collect : added)
    collect.erase();
  return success();
}

LogicalResult Backward::runLayersBack(LayersOp layers, Value gradient) {
  OperationState state(layers.getLoc(), LayersOp::getOperationName());
  LayersOp::build(builder, state, layers.getType(), gradient,
                  layers.getSlotsAttr(), layers.getBodiesAttr(),
                  layers.getTableAttr(), ArrayAttr(), builder.getUnitAttr(),
                  layers.getBodyRegions().size());
  auto reverse = cast<LayersOp>(builder.create(state));
  for (unsigned body = 0; body < layers.getBodyRegions().size(); ++body) {
    Block &block = reverse.getBodyRegions()[body].emplaceBlock();
    block.addArgument(gradient.getType(), layers.getLoc());
    if (failed(fillBody(layers, body, block)))
      return failure();
  }
  add(layers.getInput(), reverse.getResult());
  for (auto [value, name] : collectedHere)
    add(value, CollectedOp::create(builder, layers.getLoc(), value.getType(),
                                   name, value));
  collectedHere.clear();
  return success();
}

StringAttr Backward::collect(Value value) {
  StringAttr &name = collectedHere[value];
  if (!name)
    name = builder.getStringAttr("outside." + Twine(collections++));
  return name;
}

// What all layers read from outside gets the sum of what they give. A bias of
// scores that is made of parameters alone gives it to them at once, layer by
// layer: of the scores' size no sum is kept.
LogicalResult Backward::leave(Value value, Value gradient) {
  auto maker = dyn_cast_or_null<DifferentiableOp>(value.getDefiningOp());
  if (maker && cast<ShapedType>(value.getType()).getRank() == 4) {
    SmallVector<Value> ofOperands;
    if (failed(maker.buildAdjoint(builder, gradient, *this, ofOperands)))
      return failure();
    assert(llvm::none_of(ofOperands, [](Value one) { return bool(one); }) &&
           "a bias whose gradient goes on has no adjoint");
    return success();
  }
  CollectOp::create(builder, gradient.getLoc(), gradient, value,
                    collect(value));
  return success();
}

// A body is a block of its own: it has its own values of the forward pass.
LogicalResult Backward::fillBody(LayersOp layers, int64_t body, Block &block) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&block);
  Region &region = layers.getBodyRegions()[body];
  decltype(gradients) outer;
  decltype(known) outerKnown;
  decltype(knownSums) outerSums;
  std::swap(outer, gradients);
  std::swap(outerKnown, known);
  std::swap(outerSums, knownSums);
  FailureOr<Value> gradient = branch(region, block.getArgument(0));
  std::swap(outer, gradients); // `outer` now has what the body left
  std::swap(outerKnown, known);
  std::swap(outerSums, knownSums);
  if (failed(gradient))
    return failure();
  for (auto [value, left] : outer)
    if (!region.isAncestor(value.getParentRegion()) &&
        failed(leave(value, left)))
      return failure();
  if (!*gradient)
    return layers.emitOpError()
           << "has body " << body << " that does not read the stream";
  YieldOp::create(builder, layers.getLoc(), *gradient);
  return success();
}

//===-- values of the forward pass ----------------------------------------===//

Value Backward::at(Value forward) {
  forward = sourceOf(forward);
  if (isOutermost(forward))
    return forward;
  if (Value value = known.lookup(forward))
    return value;
  StringAttr name = saved.nameOf(forward);
  Value value =
      name ? SavedOp::create(builder, forward.getLoc(), forward.getType(), name)
           : compute(forward);
  return known[forward] = value;
}

// The op that gives a value, on operands of the backward pass.
Value Backward::compute(Value forward) {
  if (auto argument = dyn_cast<BlockArgument>(forward)) {
    // sourceOf leaves arguments that have a norm, which belong to a unit.
    auto unit = cast<ResidualOp>(argument.getOwner()->getParentOp());
    NormAttr norm = inNormOf(unit, argument.getOwner()->getParent());
    return NormOp::create(builder, unit.getLoc(), at(unit.getInput()), norm);
  }
  Operation *op = forward.getDefiningOp();
  if (auto unit = dyn_cast<ResidualOp>(op))
    return afterSum(builder, unit, sumOf(unit));
  IRMapping operands;
  for (Value operand : op->getOperands())
    operands.map(operand, at(operand));
  Operation *clone = builder.clone(*op, operands);
  for (auto [old, fresh] :
       llvm::zip_equal(op->getResults(), clone->getResults()))
    known[old] = fresh;
  return clone->getResult(cast<OpResult>(forward).getResultNumber());
}

Value Backward::sumOf(ResidualOp unit) {
  if (Value sum = knownSums.lookup(unit))
    return sum;
  StringAttr name = saved.nameOfSum(unit);
  Value sum =
      name ? SavedOp::create(builder, unit.getLoc(), unit.getType(), name)
                 .getResult()
           : sumOfTerms(builder, unit, *this);
  return knownSums[unit] = sum;
}
