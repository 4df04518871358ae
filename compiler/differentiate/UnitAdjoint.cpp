// The adjoint of the residual unit, once for every placement, scale and tap:
// these are values of its slots. Must not know a placement's name.
#include "compiler/differentiate/Adjoint.h"
#include "compiler/differentiate/Unit.h"
#include "dialects/transformer/Slots.h"

using namespace mlir;
using namespace mille::transformer;

namespace mille::differentiate {

bool isOutermost(Value value) {
  return isa<func::FuncOp>(value.getParentRegion()->getParentOp());
}

namespace {

template <typename Entry>
Entry entryOf(std::optional<ArrayAttr> list, size_t i) {
  return list ? cast<Entry>((*list)[list->size() == 1 ? 0 : i]) : Entry();
}

NormAttr onlyNorm(NormAttr norm) { return isNorm(norm) ? norm : NormAttr(); }

} // namespace

NormAttr inNormOf(ResidualOp unit, Region *branch) {
  return onlyNorm(
      entryOf<NormAttr>(unit.getInNorm(), branch->getRegionNumber()));
}

NormAttr branchNormOf(ResidualOp unit, size_t i) {
  return onlyNorm(entryOf<NormAttr>(unit.getBranchNorm(), i));
}

ScaleAttr branchScaleOf(ResidualOp unit, size_t i) {
  return entryOf<ScaleAttr>(unit.getBranchScale(), i);
}

Value yieldOf(ResidualOp unit, size_t i) {
  return unit.getBranches()[i].front().getTerminator()->getOperand(0);
}

Value sourceOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto unit =
      argument
          ? dyn_cast_or_null<ResidualOp>(argument.getOwner()->getParentOp())
          : ResidualOp();
  if (!unit)
    return value;
  NormAttr norm = inNormOf(unit, argument.getOwner()->getParent());
  if (!norm)
    return sourceOf(unit.getInput());
  for (Region &branch : unit.getBranches())
    if (inNormOf(unit, &branch) == norm)
      return branch.getArgument(0);
  return value;
}

bool isLearned(ScaleAttr scale) {
  return scale && (scale.getKind() == ScaleKind::learned_scalar ||
                   scale.getKind() == ScaleKind::learned_channel);
}

Value scaled(OpBuilder &builder, ScaleAttr scale, Value value) {
  std::optional<double> constant = constantOf(scale);
  if (!value || constant == 0.0)
    return {};
  if (constant == 1.0)
    return value;
  return AffineOp::create(builder, value.getLoc(), value, scale, ScaleAttr());
}

Value sum(OpBuilder &builder, Value left, Value right) {
  if (!left || !right)
    return left ? left : right;
  return AddOp::create(builder, left.getLoc(), left, right);
}

Value normed(OpBuilder &builder, NormAttr norm, Value value) {
  return norm ? NormOp::create(builder, value.getLoc(), value, norm).getResult()
              : value;
}

bool readsSum(ResidualOp unit) {
  return isNorm(unit.getOutNormAttr()) || isLearned(unit.getStreamScaleAttr());
}

namespace {

// r: what the skip takes.
Value tapped(ResidualOp unit, Primal &primal) {
  return primal.at(unit.getTap() == Tap::normed
                       ? Value(unit.getBranches()[0].getArgument(0))
                       : unit.getInput());
}

// N_branch,i(F_i(u_i))
Value termOf(OpBuilder &builder, ResidualOp unit, size_t i, Primal &primal) {
  return normed(builder, branchNormOf(unit, i), primal.at(yieldOf(unit, i)));
}

Value gradientAt(OpBuilder &builder, NormAttr norm, Value gradient,
                 Value input) {
  if (!norm || !gradient)
    return gradient;
  return NormGradientOp::create(builder, gradient.getLoc(), gradient, input,
                                norm);
}

} // namespace

Value sumOfTerms(OpBuilder &builder, ResidualOp unit, Primal &primal) {
  Value y = scaled(builder, unit.getSkipScaleAttr(), tapped(unit, primal));
  for (size_t i = 0; i < unit.getBranches().size(); ++i)
    y = sum(builder, y,
            scaled(builder, branchScaleOf(unit, i),
                   termOf(builder, unit, i, primal)));
  return y;
}

Value afterSum(OpBuilder &builder, ResidualOp unit, Value y) {
  y = normed(builder, onlyNorm(unit.getOutNormAttr()), y);
  return scaled(builder, unit.getStreamScaleAttr(), y);
}

template <>
SmallVector<Value> reads<ResidualOp>(ResidualOp unit, const Primal &) {
  SmallVector<Value> values;
  for (auto [i, branch] : llvm::enumerate(unit.getBranches())) {
    if (inNormOf(unit, &branch))
      values.push_back(unit.getInput());
    if (branchNormOf(unit, i) || isLearned(branchScaleOf(unit, i)))
      values.push_back(yieldOf(unit, i));
  }
  if (isLearned(unit.getSkipScaleAttr()))
    values.push_back(unit.getTap() == Tap::normed
                         ? Value(unit.getBranches()[0].getArgument(0))
                         : unit.getInput());
  return values;
}

// With g_y the gradient of the sum y:
//   g_y = N_out*(s g), dA = <g_y, r>,
//   of each branch g_b = N_branch*(B g_y), dB = <g_y, N_branch(b)>,
//   g_u = F*(g_b),
//   g_x = [tap x] A g_y + sum N_in*(g_u + [tap u] A g_y).
template <>
LogicalResult adjoint<ResidualOp>(ResidualOp unit, OpBuilder &builder,
                                  ValueRange gradients, Primal &primal,
                                  Gradients &into) {
  Location at = unit.getLoc();
  Value x = unit.getInput(), g = gradients.front();
  auto learn = [&](ScaleAttr scale, Value gradient, auto input) {
    if (isLearned(scale))
      ScaleGradientOp::create(builder, at, gradient, input(),
                              scale.getSymbol());
  };
  NormAttr outNorm = onlyNorm(unit.getOutNormAttr());
  learn(unit.getStreamScaleAttr(), g,
        [&] { return normed(builder, outNorm, primal.sumOf(unit)); });
  Value gy = scaled(builder, unit.getStreamScaleAttr(), g);
  if (outNorm && gy)
    gy = gradientAt(builder, outNorm, gy, primal.sumOf(unit));
  if (!gy)
    return success();
  learn(unit.getSkipScaleAttr(), gy, [&] { return tapped(unit, primal); });

  // The gradients of the branches' inputs, one for each norm of x.
  Value skip = scaled(builder, unit.getSkipScaleAttr(), gy);
  SmallVector<std::pair<Region *, Value>> inputs;
  auto addTo = [&](Region &branch, Value gradient) {
    NormAttr norm = inNormOf(unit, &branch);
    for (auto &[first, sumOfInputs] : inputs)
      if (inNormOf(unit, first) == norm) {
        sumOfInputs = sum(builder, sumOfInputs, gradient);
        return;
      }
    inputs.emplace_back(&branch, gradient);
  };
  for (size_t i = 0; i < unit.getBranches().size(); ++i) {
    Region &branch = unit.getBranches()[i];
    ScaleAttr scale = branchScaleOf(unit, i);
    learn(scale, gy, [&] { return termOf(builder, unit, i, primal); });
    Value gb = scaled(builder, scale, gy);
    if (NormAttr norm = branchNormOf(unit, i); norm && gb)
      gb = gradientAt(builder, norm, gb, primal.at(yieldOf(unit, i)));
    FailureOr<Value> gu = gb ? primal.branch(branch, gb) : Value();
    if (failed(gu))
      return failure();
    addTo(branch, *gu);
  }
  Value gx = unit.getTap() == Tap::normed ? Value() : skip;
  if (unit.getTap() == Tap::normed)
    addTo(unit.getBranches().front(), skip);
  for (auto [branch, gradient] : inputs) {
    NormAttr norm = inNormOf(unit, branch);
    if (norm && gradient)
      gradient = gradientAt(builder, norm, gradient, primal.at(x));
    gx = sum(builder, gx, gradient);
  }
  into[0] = gx;
  return success();
}

void attachUnitAdjoint(MLIRContext *context) {
  attachAdjoints<ResidualOp>(context);
}

} // namespace mille::differentiate
