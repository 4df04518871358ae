// Chooses values to save: from what adjoints read, down through ops that are
// computed anew, to what is not. The function's own values are never saved: the
// backward pass sees them.
#include "compiler/differentiate/ChooseSaved.h"
#include "compiler/differentiate/Passes.h"
#include "compiler/differentiate/Unit.h"
#include "dialects/transformer/Slots.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mille::differentiate;
using namespace mille::transformer;

std::optional<RecomputePolicy>
mille::differentiate::recomputeNamed(StringRef word) {
  if (word.consume_front("segment:")) {
    int64_t length = 0;
    if (word.getAsInteger(10, length) || length < 1)
      return std::nullopt;
    return RecomputePolicy{Recompute::cheap, length};
  }
  return llvm::StringSwitch<std::optional<RecomputePolicy>>(word)
      .Case("none", RecomputePolicy{Recompute::none, 0})
      .Case("cheap", RecomputePolicy{Recompute::cheap, 0})
      .Case("layer", RecomputePolicy{Recompute::layer, 0})
      .Default(std::nullopt);
}

bool mille::differentiate::isRecompute(StringRef word) {
  return recomputeNamed(word).has_value();
}

void Saved::choose(Block &entry, const Primal &forward, Recompute wanted) {
  policy = wanted;
  primal = &forward;
  entry.walk([&](Operation *op) {
    auto differentiable = dyn_cast<DifferentiableOp>(op);
    if (!differentiable || llvm::none_of(op->getResults(), [&](Value result) {
          return forward.isActive(result);
        }))
      return;
    for (Value value : differentiable.readByAdjoint(forward))
      need(value);
    if (auto unit = dyn_cast<ResidualOp>(op); unit && readsSum(unit))
      needSum(unit);
  });
}

bool Saved::isCheap(Operation *op) const {
  // What follows from inputs alone (positions, their biases) is large and easy.
  if (llvm::none_of(op->getResults(),
                    [&](Value result) { return primal->isActive(result); }))
    return true;
  if (isa<RouteOp>(op)) // which experts a row has is no number to save
    return true;
  if (policy == Recompute::none)
    return false;
  if (policy == Recompute::layer)
    return true;
  return isa<NormOp, ActivateOp, GateOp, SoftcapOp, ClampOp, AddOp, AffineOp,
             DropoutOp, RotateOp, DispatchOp, CombineOp>(op);
}

namespace {

// What the value is called in the forward pass: after a linear's weight, or the
// op that makes it.
StringRef nameFor(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isa<LayersOp>(argument.getOwner()->getParentOp()) ? "x" : "normed";
  Operation *op = value.getDefiningOp();
  if (auto linear = dyn_cast<LinearOp>(op)) {
    StringRef weight = linear.getWeight();
    weight.consume_back(".weight");
    return weight;
  }
  return op->getName().stripDialect();
}

} // namespace

StringAttr Saved::unique(MLIRContext *context, StringRef name) {
  std::string text = name.str();
  for (int copy = 2; !taken.insert(text).second; ++copy)
    text = (name + "." + Twine(copy)).str();
  return StringAttr::get(context, text);
}

void Saved::needOperands(Operation *op) {
  for (Value operand : op->getOperands())
    need(operand);
}

void Saved::need(Value value) {
  value = sourceOf(value);
  if (isOutermost(value) || !seen.insert(value).second)
    return;
  auto save = [&] {
    values[value] = unique(value.getContext(), nameFor(value));
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto unit = dyn_cast<ResidualOp>(argument.getOwner()->getParentOp());
    if (!unit || policy == Recompute::none)
      return save();
    return need(unit.getInput());
  }
  Operation *op = value.getDefiningOp();
  if (auto unit = dyn_cast<ResidualOp>(op)) {
    // Without a norm after the sum, the unit's value is as good as its sum.
    const bool afterNorm =
        policy == Recompute::cheap && isNorm(unit.getOutNormAttr());
    return afterNorm || policy == Recompute::layer ? needSum(unit) : save();
  }
  return isCheap(op) ? needOperands(op) : save();
}

void Saved::needSum(ResidualOp unit) {
  if (!seenSums.insert(unit).second)
    return;
  if (policy != Recompute::layer) {
    sums[unit] = unique(unit.getContext(), "sum");
    return;
  }
  need(unit.getTap() == Tap::normed
           ? Value(unit.getBranches()[0].getArgument(0))
           : unit.getInput());
  for (size_t i = 0; i < unit.getBranches().size(); ++i)
    need(yieldOf(unit, i));
}

void Saved::insert() const {
  llvm::MapVector<Operation *, SmallVector<Attribute>> ofLayers;
  auto name = [&](Operation *inside, StringAttr name) {
    if (auto layers = inside->getParentOfType<LayersOp>())
      ofLayers[layers].push_back(name);
  };
  for (auto [value, as] : values) {
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    name(SaveOp::create(builder, value.getLoc(), value, as), as);
  }
  for (auto [unit, as] : sums) {
    cast<ResidualOp>(unit).setSumAsAttr(as);
    name(unit, as);
  }
  for (auto &[layers, names] : ofLayers)
    cast<LayersOp>(layers).setSavesAttr(
        ArrayAttr::get(layers->getContext(), names));
}
