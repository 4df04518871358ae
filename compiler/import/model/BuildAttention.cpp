// Builds the ops inside an attention branch: projections, norms of heads, RoPE,
// softmax or linear attention, inner norm and gate.
#include "compiler/import/model/ModelBuilder.h"
#include "llvm/ADT/ScopeExit.h"

#include <cmath>

using namespace mlir;
using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;
using llvm::Twine;

Value ModelBuilder::attend(Value u, const Branch &branch, int64_t layer) {
  const Attention &a = *branch.attention.at(layer);
  attention = &a;
  llvm::scope_exit done([&] { attention = nullptr; });
  LocationAttr at = branch.at;
  std::string name = layerPrefix(layer) + branch.name + ".";
  if (a.windows)
    u = intoWindows(u, *a.windows);
  Heads heads =
      a.latent ? projectLatent(u, a, name, at) : project(u, a, name, at);
  double scale = a.divideByLayer ? a.scale / double(layer + 1) : a.scale;
  scale *= a.qkGain * a.qkGain;
  Value o = a.decay.empty() ? attendSoftmax(u, heads, a, name, scale, at)
                            : attendLinear(heads, a, name, scale, at);
  o = normHeads(o, a.innerNorm, name + "inner_norm", a.heads, a.valueDim, at);
  Dimension width = dim(a.heads, a.valueDim);
  if (a.outputGate) {
    Value gate =
        linear(shifted(u, a.inputShift, name + "gate", at), name + "gate",
               Role::gate, width, dim(stack->hidden), false, at);
    o = GateOp::create(op, where(at), gate, o, *a.outputGate,
                       llvm::APFloat(0.0));
  }
  o = linear(shifted(o, a.inputShift, name + "o", at), name + "o", Role::output,
             dim(stack->hidden), width, a.oBias, at);
  return a.windows ? outOfWindows(o, *a.windows) : o;
}

ModelBuilder::Heads ModelBuilder::project(Value u, const Attention &a,
                                          StringRef name, LocationAttr at) {
  if (a.layout != QkvLayout::separate) {
    splitQkv(a, name, ".weight", at);
    if (a.qBias)
      splitQkv(a, name, ".bias", at);
  }
  auto projected = [&](Value from, const Extent &width, StringRef part,
                       Role role, const Extent &heads, const Extent &size,
                       bool bias) {
    std::string own = (name + part).str();
    Value x = linear(shifted(from, a.inputShift, own, at), own, role,
                     dim(heads, size), dim(width), bias, at);
    if (a.qkvAct != Activation::identity)
      x = ActivateOp::create(op, where(at), x, a.qkvAct);
    if (a.clip > 0)
      x = ClampOp::create(op, where(at), x, op.getF64FloatAttr(-a.clip),
                          op.getF64FloatAttr(a.clip));
    return x;
  };
  Value source = a.cross ? memory : u;
  const Extent &width = a.cross ? *memoryWidth : stack->hidden;
  Heads heads{
      projected(u, stack->hidden, "q", Role::query, a.heads, a.headDim,
                a.qBias),
      projected(source, width, "k", Role::key, a.kvHeads, a.headDim, a.kBias),
      projected(source, width, "v", Role::value, a.kvHeads, a.valueDim,
                a.vBias)};
  auto norms = [&](bool after) {
    if (after != a.normAfterRope)
      return;
    heads.query = normHeads(heads.query, a.qkNorm, (name + "q_norm").str(),
                            a.heads, a.headDim, at);
    heads.key = normHeads(heads.key, a.qkNorm, (name + "k_norm").str(),
                          a.kvHeads, a.headDim, at);
  };
  norms(false);
  if (a.rope) {
    heads.query =
        rotate(heads.query, *a.rope, a.heads.value, a.headDim.value, 0, at);
    heads.key =
        rotate(heads.key, *a.rope, a.kvHeads.value, a.headDim.value, 0, at);
    if (a.rotateValue)
      heads.value = rotate(heads.value, *a.rope, a.kvHeads.value,
                           a.valueDim.value, 0, at);
  }
  if (const auto &rope = a.axialRope) {
    heads.query = rotateAxially(heads.query, *rope, a.heads, a.headDim, at);
    heads.key = rotateAxially(heads.key, *rope, a.kvHeads, a.headDim, at);
  }
  norms(true);
  return heads;
}

Value ModelBuilder::normHeads(Value x, const HeadNorm &norm, StringRef name,
                              const Extent &heads, const Extent &size,
                              LocationAttr at) {
  if (!norm.norm.present())
    return x;
  const int64_t group = norm.group == NormGroup::row ? 0 : size.value;
  Dimension channels =
      norm.group == NormGroup::head ? dim(size) : dim(heads, size);
  if (norm.group == NormGroup::heads && norm.norm.affine != Affine::none) {
    // The weight is stored per head; here it is one row of channels.
    for (StringRef part : {".weight", ".bias"}) {
      if (part == ".bias" && !norm.norm.bias)
        continue;
      std::string own = (name + part).str();
      Role role = part == ".bias"                      ? Role::bias
                  : norm.norm.affine == Affine::weight ? Role::normWeight
                                                       : Role::normOffsetWeight;
      if (made.insert(own).second)
        if (Attribute value = valueOf({own, {dim(heads), dim(size)}, role}))
          declare(own, {channels},
                  ReshapeAttr::get(&context, value,
                                   op.getDenseI64ArrayAttr({channels.size})),
                  at);
    }
  }
  return NormOp::create(op, where(at), x,
                        this->norm(norm.norm, name, channels, group));
}

Value ModelBuilder::rotate(Value x, const Rope &rope, int64_t heads,
                           int64_t size, int64_t start, LocationAttr at) {
  LongContextAttr longContext;
  if (const auto &l = rope.longContext) {
    DenseF64ArrayAttr frequencies;
    if (!l->frequencies.empty())
      frequencies = op.getDenseF64ArrayAttr(l->frequencies);
    longContext =
        LongContextAttr::get(&context, l->after, l->stretch, frequencies);
  }
  return RotateOp::create(
      op, where(at), x.getType(), x, input("position_ids"),
      op.getI64IntegerAttr(heads), op.getI64IntegerAttr(size),
      op.getI64IntegerAttr(start), PairingAttr::get(&context, rope.pairing),
      op.getDenseF64ArrayAttr(rope.frequencies), FlatSymbolRefAttr(),
      longContext, op.getF64FloatAttr(rope.attentionFactor));
}

// Makes the weights of low-rank heads from the stored ones: each head's key
// rows with zeros at the channels of the rotated key, and its value rows.
void ModelBuilder::declareLatent(const Attention &a, StringRef name,
                                 LocationAttr at) {
  if (!made.insert((name + "kv_b.weight").str()).second)
    return; // another layer with the same weights has made it
  const Latent &l = *a.latent;
  const int64_t heads = a.heads.value, nope = l.nope.value, rope = l.rope.value,
                value = a.valueDim.value, rank = l.rank.value;
  auto reshaped = [&](Attribute x, llvm::ArrayRef<int64_t> shape) {
    return ReshapeAttr::get(&context, x, op.getDenseI64ArrayAttr(shape));
  };
  auto swapped = [&](Attribute x) {
    return PermuteAttr::get(&context, x, op.getDenseI64ArrayAttr({1, 0, 2}));
  };
  auto zeros = [&](llvm::ArrayRef<int64_t> shape) {
    return DrawnAttr::get(&context, Distribution::fixed, 0.0, 0.0, 0.0, 0,
                          "zeros", RankedTensorType::get(shape, f32));
  };
  Dimension stored{heads * (nope + value), {&a.heads, &l.nope, &a.valueDim}};
  Dimension keys{heads * (nope + rope), {&a.heads, &l.nope, &l.rope}};
  Wanted wanted{(name + "kv_b.weight").str(), {stored, dim(l.rank)}, Role::key};
  wanted.groups = heads;
  wanted.parts = {{(name + "k.weight").str(), Role::key, heads * nope},
                  {(name + "v.weight").str(), Role::value, heads * value}};
  if (Attribute up = valueOf(wanted)) {
    Attribute byHead = reshaped(up, {heads, nope + value, rank});
    Attribute key = swapped(SliceAttr::get(&context, byHead, 1, 0, nope, 1));
    key = ConcatAttr::get(
        &context, llvm::ArrayRef<Attribute>{key, zeros({rope, heads, rank})});
    declare((name + "k.weight").str(), {keys, dim(l.rank)},
            reshaped(swapped(key), {keys.size, rank}), at,
            {nope + rope, nope, rope});
    declare((name + "v.weight").str(), {dim(a.heads, a.valueDim), dim(l.rank)},
            reshaped(SliceAttr::get(&context, byHead, 1, nope, value, 1),
                     {heads * value, rank}),
            at);
  }
  for (StringRef suffix : {".weight", ".bias"}) {
    const bool isBias = suffix == ".bias";
    if (isBias && !l.bias)
      continue;
    llvm::SmallVector<Dimension, 2> shape{
        Dimension{rank + rope, {&l.rank, &l.rope}}};
    if (!isBias)
      shape.push_back(dim(stack->hidden));
    Attribute down = valueOf({(name + "kv_a" + suffix).str(), shape,
                              isBias ? Role::bias : Role::key});
    if (!down)
      continue;
    shape[0] = dim(l.rank);
    declare((name + "kv_a" + suffix).str(), shape,
            SliceAttr::get(&context, down, 0, 0, rank, 1), at);
    shape[0] = dim(l.rope);
    declare((name + "k_rope" + suffix).str(), shape,
            SliceAttr::get(&context, down, 0, rank, rope, 1), at);
  }
  for (StringRef part : {"k.weight", "v.weight", "kv_a.weight", "kv_a.bias",
                         "k_rope.weight", "k_rope.bias"})
    made.insert((name + part).str());
  // Copies the rotated key to its place in every head.
  std::string spread = named("k_rope_spread.weight");
  if (!made.insert(spread).second)
    return;
  std::vector<double> identity(rope * rope, 0.0);
  for (int64_t i = 0; i < rope; ++i)
    identity[i * rope + i] = 1;
  llvm::SmallVector<int64_t> rows(nope, -1); // zeros
  for (int64_t i = 0; i < rope; ++i)
    rows.push_back(i);
  Attribute head = GatherAttr::get(
      &context,
      NumbersAttr::get(&context, op.getDenseF64ArrayAttr(identity),
                       RankedTensorType::get({rope, rope}, f32)),
      op.getDenseI64ArrayAttr(rows));
  declare(spread, {keys, dim(l.rope)},
          RepeatAttr::get(&context, head, heads, false), at);
}

ModelBuilder::Heads ModelBuilder::projectLatent(Value u, const Attention &a,
                                                StringRef name,
                                                LocationAttr at) {
  const Latent &l = *a.latent;
  declareLatent(a, name, at);
  Value query = u;
  Dimension from = dim(stack->hidden);
  if (l.queryRank) {
    query = linear(u, (name + "q_a").str(), Role::dense, dim(l.queryRank), from,
                   l.queryBias, at);
    from = dim(l.queryRank);
    query =
        NormOp::create(op, where(at), query,
                       norm(l.queryNorm, (name + "q_a_norm").str(), from, 0));
  }
  query = linear(query, (name + "q").str(), Role::query,
                 dim(a.heads, a.headDim), from, a.qBias, at);
  query =
      rotate(query, *a.rope, a.heads.value, a.headDim.value, l.nope.value, at);

  Value latent = linear(u, (name + "kv_a").str(), Role::dense, dim(l.rank),
                        dim(stack->hidden), l.bias, at);
  latent =
      NormOp::create(op, where(at), latent,
                     norm(l.norm, (name + "kv_a_norm").str(), dim(l.rank), 0));
  Dimension keys = dim(a.heads, a.headDim);
  Value key = linear(latent, (name + "k").str(), Role::key, keys, dim(l.rank),
                     false, at);
  Value turned = linear(u, (name + "k_rope").str(), Role::key, dim(l.rope),
                        dim(stack->hidden), l.bias, at);
  turned = rotate(turned, *a.rope, 1, l.rope.value, 0, at);
  turned = apply(
      turned, FlatSymbolRefAttr::get(&context, named("k_rope_spread.weight")),
      FlatSymbolRefAttr(), keys.size, at);
  key = AddOp::create(op, where(at), key, turned);
  Value value = linear(latent, (name + "v").str(), Role::value,
                       dim(a.heads, a.valueDim), dim(l.rank), false, at);
  return {query, key, value};
}

llvm::SmallVector<Value> ModelBuilder::scoreBiases(Value u, const Attention &a,
                                                   StringRef name,
                                                   LocationAttr at) {
  llvm::SmallVector<Value> biases;
  if (!a.slopes.empty()) {
    constexpr int64_t any = ShapedType::kDynamic;
    auto type = RankedTensorType::get({any, a.heads.value, any, any}, f32);
    biases.push_back(PositionBiasOp::create(
        op, where(at), type,
        a.slopesFromMask ? countShown(1, at) : input("position_ids"),
        op.getDenseF64ArrayAttr(a.slopes), op.getF64FloatAttr(a.slopeFactor),
        a.slopesRounded ? op.getUnitAttr() : UnitAttr()));
  }
  if (a.distance)
    biases.push_back(distanceBias(u, a, name, at));
  for (const PairBias &bias : a.pairBiases)
    biases.push_back(pairBias(bias, name, a, u, at));
  return biases;
}

// The bias of this layer, or the one that all layers of the stack share.
Value ModelBuilder::distanceBias(Value like, const Attention &a, StringRef name,
                                 LocationAttr at) {
  const DistanceTable &distance = *a.distance;
  if (distance.shared && sharedBias)
    return sharedBias;
  OpBuilder::InsertionGuard guard(op);
  if (distance.shared) { // build it before the unit: later units use it too
    auto unit = op.getInsertionBlock()->getParentOp();
    op.setInsertionPoint(unit);
    like = llvm::cast<ResidualOp>(unit).getInput();
  }
  std::string table =
      distance.shared ? named("relative") : (name + "relative").str();
  constexpr int64_t any = ShapedType::kDynamic;
  Value bias = DistanceBiasOp::create(
      op, where(at), RankedTensorType::get({any, a.heads.value, any, any}, f32),
      like,
      parameter(table + ".weight", Role::position,
                {dim(distance.entries), dim(a.heads)}, at),
      op.getDenseI64ArrayAttr(distance.buckets));
  if (distance.shared)
    sharedBias = bias;
  return bias;
}

Value ModelBuilder::attendSoftmax(Value u, const Heads &heads,
                                  const Attention &a, StringRef name,
                                  double scale, LocationAttr at) {
  LengthScaleAttr length;
  Value positions;
  if (const auto &l = a.lengthScale) {
    length = LengthScaleAttr::get(&context, l->kind, l->base, l->floor, l->beta,
                                  l->period, l->offset);
    if (l->byToken)
      positions = countTokens(input("input_ids"), // all count: no id is -1
                              op.getI64IntegerAttr(-1), 0, 1, at);
    else if (l->kind == LengthKind::log_floor)
      positions = input("position_ids");
  }
  FlatSymbolRefAttr sink, headScale;
  if (a.sink)
    sink = parameter((name + "sink").str(), Role::scale, {dim(a.heads)}, at);
  if (a.learnedScale) {
    std::string own = (name + "logit_scale").str();
    headScale = FlatSymbolRefAttr::get(&context, own);
    Wanted wanted{own, {dim(a.heads)}, Role::scale, std::log(10.0)};
    if (made.insert(own).second)
      if (Attribute value = valueOf(wanted))
        declare(own, wanted.shape,
                ApplyAttr::get(&context, value, ValueFunction::exp_min_ln100),
                at);
  }
  DenseI64ArrayAttr window;
  if (a.left > 0 || a.right > 0)
    window = op.getDenseI64ArrayAttr({a.left, a.right});
  Value keyMask = a.cross ? memoryMask : input("attention_mask");
  Value prefix = a.prefixed ? inputNamed("prefix_tokens") : Value();
  llvm::SmallVector<Value> biases = scoreBiases(u, a, name, at);
  if (a.content && a.content->ofQuery)
    biases.push_back(contentBias(heads.query, false, a, name, at));
  if (a.content && a.content->ofKey)
    biases.push_back(contentBias(heads.key, true, a, name, at));
  if (a.scoreOfValue)
    biases.push_back(scoreOfValue(heads.value, a, name, at));
  const bool chunks = a.chunk && a.chunksFromMask;
  Value segments = a.windows ? this->segments(*a.windows)
                   : chunks  ? countShown(a.chunk, at)
                             : Value();
  const bool sized = a.windows && isSized(heads.query);
  return AttendOp::create(
      op, where(at), as(heads.query, a.heads.value * a.valueDim.value),
      heads.query, heads.key, heads.value, keyMask, positions, segments, prefix,
      /*past=*/Value(), biases, op.getI64IntegerAttr(a.heads.value),
      op.getI64IntegerAttr(a.kvHeads.value),
      op.getI64IntegerAttr(a.headDim.value),
      op.getI64IntegerAttr(a.valueDim.value), op.getF64FloatAttr(scale),
      FlatSymbolRefAttr(), headScale, length, sink,
      MaskAttr::get(&context, a.mask), window,
      op.getI64IntegerAttr(chunks ? 0 : a.chunk),
      op.getI64IntegerAttr(a.windows && !sized ? a.windows->windows().count()
                                               : 1),
      op.getI64IntegerAttr(sized ? a.windows->size * a.windows->size : 0),
      op.getF64FloatAttr(a.softcap));
}

Value ModelBuilder::attendLinear(const Heads &heads, const Attention &a,
                                 StringRef name, double scale,
                                 LocationAttr at) {
  std::string own = (name + "decay").str();
  if (made.insert(own).second)
    declare(own, {dim(a.heads)},
            NumbersAttr::get(&context, op.getDenseF64ArrayAttr(a.decay),
                             RankedTensorType::get({a.heads.value}, f32)),
            at);
  return LinearAttendOp::create(
      op, where(at), as(heads.query, a.heads.value * a.valueDim.value),
      heads.query, heads.key, heads.value, input("attention_mask"),
      /*state=*/Value(), /*past=*/Value(), op.getI64IntegerAttr(a.heads.value),
      op.getI64IntegerAttr(a.kvHeads.value),
      op.getI64IntegerAttr(a.headDim.value),
      op.getI64IntegerAttr(a.valueDim.value), op.getF64FloatAttr(scale),
      FlatSymbolRefAttr::get(&context, own));
}
