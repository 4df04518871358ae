// Builds the ops inside a feed-forward branch: dense, or a mixture of experts.
#include "compiler/import/model/ModelBuilder.h"

#include <limits>

#include <cmath>

using namespace mlir;
using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;
using llvm::Twine;

Value ModelBuilder::feedForward(Value u, const Branch &branch, int64_t layer) {
  const FeedForward &f = *branch.feedForward.at(layer);
  std::string name = layerPrefix(layer) + branch.name + ".";
  if (!f.experts)
    return dense(u, f, f.size, name, branch.at);
  Value y = mixture(u, f, name, branch.at);
  if (f.experts->sharedSize)
    y = AddOp::create(op, where(branch.at), y, shared(u, f, name, branch.at));
  return y;
}

// act(gate) * (up + offset), or act(up) without a gate.
Value ModelBuilder::gated(Value up, Value gate, const FeedForward &f,
                          LocationAttr at) {
  auto clamped = [&](Value x, double low) -> Value {
    if (f.limit <= 0)
      return x;
    return ClampOp::create(op, where(at), x, op.getF64FloatAttr(low),
                           op.getF64FloatAttr(f.limit));
  };
  if (!gate)
    return ActivateOp::create(op, where(at), clamped(up, -f.limit), f.act);
  gate = clamped(gate, -std::numeric_limits<double>::infinity());
  return GateOp::create(op, where(at), gate, clamped(up, -f.limit), f.act,
                        llvm::APFloat(f.upOffset));
}

Value ModelBuilder::dense(Value u, const FeedForward &f, const Extent &size,
                          StringRef name, LocationAttr at) {
  if (f.gated && f.layout != GateLayout::separate) {
    splitFused(f.layout, f.activatedSecond, dim(size), 0, name, ".weight",
               {dim(size), dim(stack->hidden)}, at);
    if (f.inBias)
      splitFused(f.layout, f.activatedSecond, dim(size), 0, name, ".bias",
                 {dim(size)}, at);
  }
  auto into = [&](StringRef part, Role role) {
    std::string own = (name + part).str();
    return linear(shifted(u, f.inputShift, own, at), own, role, dim(size),
                  dim(stack->hidden), f.inBias, at);
  };
  Value up = into("in", Role::ffnIn);
  Value y = gated(up, f.gated ? into("gate", Role::gate) : Value(), f, at);
  if (f.innerNorm.present())
    y = NormOp::create(
        op, where(at), y,
        norm(f.innerNorm, (name + "inner_norm").str(), dim(size), 0));
  std::string out = (name + "out").str();
  return linear(shifted(y, f.inputShift, out, at), out, Role::ffnOut,
                dim(stack->hidden), dim(size), f.outBias, at);
}

// A linear in which each row takes its expert's weight from a stack [experts,
// out, in].
Value ModelBuilder::expertLinear(Value input, Value experts, const Experts &e,
                                 StringRef name, Role role, Dimension out,
                                 Dimension in, bool bias, LocationAttr at) {
  auto weight =
      parameter((name + ".weight").str(), role, {dim(e.count), out, in}, at);
  FlatSymbolRefAttr offset;
  if (bias)
    offset = this->bias(name, role, in, {dim(e.count), out}, at);
  return LinearOp::create(
      op, where(at), as(input, out.size), input, experts, weight, offset,
      op.getF64FloatAttr(spec.ntk ? 1 / std::sqrt(double(in.size)) : 1));
}

Value ModelBuilder::mixture(Value u, const FeedForward &f, StringRef name,
                            LocationAttr at) {
  const Experts &e = *f.experts;
  const int64_t k = e.chosen.value;
  Value logits = linear(u, (name + "router").str(), Role::router, dim(e.count),
                        dim(stack->hidden), e.routerBias, at);
  FlatSymbolRefAttr selection;
  if (e.selectionBias)
    selection = parameter((name + "router.selection_bias").str(), Role::bias,
                          {dim(e.count)}, at);
  auto weightType = as(u, k);
  auto route = RouteOp::create(
      op, where(at),
      RankedTensorType::get(weightType.getShape(), op.getI32Type()), weightType,
      logits, op.getI64IntegerAttr(k), RouterScoreAttr::get(&context, e.score),
      selection, op.getI64IntegerAttr(e.groups),
      op.getI64IntegerAttr(e.topGroups),
      GroupScoreAttr::get(&context, e.groupScore),
      op.getBoolAttr(e.renormalised), op.getBoolAttr(e.softmaxChosen),
      op.getF64FloatAttr(e.epsilon), op.getF64FloatAttr(e.factor));
  Value experts = route.getExperts(), shares = route.getWeights();
  auto shape = llvm::to_vector(weightType.getShape());
  shape.push_back(stack->hidden.value);
  Value x = DispatchOp::create(op, where(at), RankedTensorType::get(shape, f32),
                               u, experts, e.weighInput ? shares : Value());

  std::string own = (name + "experts.").str();
  if (f.gated && e.layout != GateLayout::separate) {
    splitFused(e.layout, f.activatedSecond, dim(f.size), 1, own, ".weight",
               {dim(e.count), dim(f.size), dim(stack->hidden)}, at);
    if (f.inBias)
      splitFused(e.layout, f.activatedSecond, dim(f.size), 1, own, ".bias",
                 {dim(e.count), dim(f.size)}, at);
  }
  Value up = expertLinear(x, experts, e, own + "in", Role::ffnIn, dim(f.size),
                          dim(stack->hidden), f.inBias, at);
  Value gate;
  if (f.gated)
    gate = expertLinear(x, experts, e, own + "gate", Role::gate, dim(f.size),
                        dim(stack->hidden), f.inBias, at);
  Value y = expertLinear(gated(up, gate, f, at), experts, e, own + "out",
                         Role::ffnOut, dim(stack->hidden), dim(f.size),
                         f.outBias, at);
  return CombineOp::create(op, where(at), u.getType(), y,
                           e.weighInput ? Value() : shares);
}

// The shared experts, which every row takes, as one feed-forward. Their gate is
// a route with one choice.
Value ModelBuilder::shared(Value u, const FeedForward &f, StringRef name,
                           LocationAttr at) {
  const Experts &e = *f.experts;
  Value y = dense(u, f, e.sharedSize, (name + "shared.").str(), at);
  if (!e.sharedGate)
    return y;
  Value logit = linear(u, (name + "shared_gate").str(), Role::dense,
                       Dimension{1, {}}, dim(stack->hidden), false, at);
  auto one = llvm::cast<RankedTensorType>(logit.getType());
  auto route = RouteOp::create(
      op, where(at), RankedTensorType::get(one.getShape(), op.getI32Type()),
      one, logit, op.getI64IntegerAttr(1),
      RouterScoreAttr::get(&context, RouterScore::sigmoid), FlatSymbolRefAttr(),
      op.getI64IntegerAttr(1), op.getI64IntegerAttr(1),
      GroupScoreAttr::get(&context, GroupScore::max), op.getBoolAttr(false),
      op.getBoolAttr(false), op.getF64FloatAttr(0), op.getF64FloatAttr(1));
  auto shape = llvm::to_vector(one.getShape());
  shape.push_back(stack->hidden.value);
  Value x = DispatchOp::create(op, where(at), RankedTensorType::get(shape, f32),
                               y, route.getExperts(), Value());
  return CombineOp::create(op, where(at), y.getType(), x, route.getWeights());
}
