// The ops inside a branch: attention and feed-forward. Must not know what is
// around the branch (norms and scales are the unit's).
#include "compiler/import/ModelBuilder.h"

using namespace mlir;
using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;
using llvm::Twine;

Value ModelBuilder::attend(Value u, const Branch &branch, int64_t layer) {
  const Attention &a = *branch.attention;
  LocationAttr at = branch.at;
  std::string name = layerPrefix(layer) + branch.name + ".";
  Value q = linear(u, name + "q", Role::query, dim(a.heads, a.headDim),
                   dim(stack->hidden), a.qBias, at);
  const Value source = a.cross ? memory : u;
  const Dimension width = dim(a.cross ? *memoryWidth : stack->hidden);
  Value k = linear(source, name + "k", Role::key, dim(a.kvHeads, a.headDim),
                   width, a.kBias, at);
  Value v = linear(source, name + "v", Role::value, dim(a.kvHeads, a.valueDim),
                   width, a.vBias, at);
  SmallVector<Value> biases;
  if (a.rope) {
    auto rotate = [&](Value x, const Extent &heads) -> Value {
      return RotateOp::create(
          op, where(at), x.getType(), x, input("position_ids"),
          op.getI64IntegerAttr(heads.value),
          op.getI64IntegerAttr(a.headDim.value), op.getI64IntegerAttr(0),
          PairingAttr::get(&context, a.rope->pairing),
          op.getDenseF64ArrayAttr(a.rope->frequencies), FlatSymbolRefAttr(),
          LongContextAttr(), op.getF64FloatAttr(a.rope->attentionFactor));
    };
    q = rotate(q, a.heads);
    k = rotate(k, a.kvHeads);
  }
  if (!a.slopes.empty()) {
    constexpr int64_t any = ShapedType::kDynamic;
    auto type = RankedTensorType::get({any, a.heads.value, any, any}, f32);
    biases.push_back(PositionBiasOp::create(
        op, where(at), type, input("position_ids"),
        op.getDenseF64ArrayAttr(a.slopes), op.getF64FloatAttr(1), UnitAttr()));
  }
  if (a.distance)
    biases.push_back(distanceBias(u, a, name, at));
  double scale = a.divideByLayer ? a.scale / double(layer + 1) : a.scale;
  Value o = AttendOp::create(
      op, where(at), stream(a.heads.value * a.valueDim.value), q, k, v,
      a.cross ? memoryMask : input("attention_mask"), Value(), Value(),
      Value(), biases,
      op.getI64IntegerAttr(a.heads.value),
      op.getI64IntegerAttr(a.kvHeads.value),
      op.getI64IntegerAttr(a.headDim.value),
      op.getI64IntegerAttr(a.valueDim.value), op.getF64FloatAttr(scale),
      FlatSymbolRefAttr(), FlatSymbolRefAttr(), LengthScaleAttr(),
      FlatSymbolRefAttr(), MaskAttr::get(&context, a.mask),
      DenseI64ArrayAttr(), op.getI64IntegerAttr(0), op.getI64IntegerAttr(1),
      op.getF64FloatAttr(a.softcap));
  return linear(o, name + "o", Role::output, dim(stack->hidden),
                dim(a.heads, a.valueDim), a.oBias, at);
}

// Of this layer, or the one value that all layers of the stack share.
Value ModelBuilder::distanceBias(Value like, const Attention &a,
                                 const std::string &name, LocationAttr at) {
  const DistanceTable &distance = *a.distance;
  if (distance.shared && sharedBias)
    return sharedBias;
  OpBuilder::InsertionGuard guard(op);
  if (distance.shared) { // before the unit, for those after it too
    auto unit = op.getInsertionBlock()->getParentOp();
    op.setInsertionPoint(unit);
    like = llvm::cast<ResidualOp>(unit).getInput();
  }
  std::string table = distance.shared ? named("relative") : name + "relative";
  constexpr int64_t any = ShapedType::kDynamic;
  Value bias = DistanceBiasOp::create(
      op, where(at),
      RankedTensorType::get({any, a.heads.value, any, any}, f32), like,
      parameter(table + ".weight", Role::position,
                {dim(distance.entries), dim(a.heads)}, at),
      op.getDenseI64ArrayAttr(distance.buckets));
  if (distance.shared)
    sharedBias = bias;
  return bias;
}

// One stored matrix holds gate and up: two parameters are slices of it.
void ModelBuilder::splitFused(const FeedForward &ffn, StringRef name,
                         StringRef suffix, ArrayRef<Dimension> rest,
                         LocationAttr at) {
  Dimension half = dim(ffn.size), both = half;
  both.size *= 2;
  llvm::SmallVector<Dimension, 2> whole{both}, part{half};
  whole.append(rest.begin(), rest.end());
  part.append(rest.begin(), rest.end());
  std::string up = (name + "in" + suffix).str();
  std::string gate = (name + "gate" + suffix).str();
  made.insert(up);
  made.insert(gate);
  Role role = rest.empty() ? Role::bias : Role::ffnIn;
  Attribute value = weights.value({up, whole, role});
  if (!value)
    return;
  bool interleaved = ffn.layout == GateLayout::interleaved;
  for (bool isGate : {false, true}) {
    bool second = isGate == ffn.activatedSecond;
    int64_t offset = !second ? 0 : interleaved ? 1 : half.size;
    declare(isGate ? gate : up, part,
            SliceAttr::get(&context, value, 0, offset, half.size,
                           interleaved ? 2 : 1),
            at);
  }
}

Value ModelBuilder::feedForward(Value u, const Branch &branch, int64_t layer) {
  const FeedForward &f = *branch.feedForward;
  LocationAttr at = branch.at;
  std::string name = layerPrefix(layer) + branch.name + ".";
  if (f.gated && f.layout != GateLayout::separate) {
    splitFused(f, name, ".weight", {dim(stack->hidden)}, at);
    if (f.inBias)
      splitFused(f, name, ".bias", {}, at);
  }
  Value y = linear(u, name + "in", Role::ffnIn, dim(f.size), dim(stack->hidden),
                   f.inBias, at);
  if (f.gated) {
    Value gate = linear(u, name + "gate", Role::gate, dim(f.size),
                        dim(stack->hidden), f.inBias, at);
    y = GateOp::create(op, where(at), gate, y, f.act,
                       llvm::APFloat(0.0));
  } else {
    y = ActivateOp::create(op, where(at), y, f.act);
  }
  return linear(y, name + "out", Role::ffnOut, dim(stack->hidden), dim(f.size),
                f.outBias, at);
}
