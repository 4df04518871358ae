// One vector per sequence: pooled by a token or attention, classified, compared
// with another stack's.
#include "compiler/import/ModelBuilder.h"

using namespace mlir;
using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

Value ModelBuilder::poolBy(Value x, Pool kind, int64_t skip) {
  auto type =
      RankedTensorType::get({ShapedType::kDynamic, stack->hidden.value}, f32);
  return PoolOp::create(op, where(spec.at), type, x, Value(), Value(), kind,
                        skip);
}

// Attention of one learned token, then a feed-forward unit.
Value ModelBuilder::poolByProbe(Value x, const Probe &probe) {
  const Attention &a = probe.attention;
  const FeedForward &f = probe.feedForward;
  LocationAttr at = a.heads.at;
  const Dimension hidden = dim(stack->hidden), inner = dim(a.heads, a.headDim);
  auto oneToken = [&](int64_t channels) {
    return RankedTensorType::get({ShapedType::kDynamic, 1, channels}, f32);
  };
  auto value = parameter(named("pool.probe"), Role::position,
                         {Dimension{1, {}}, hidden}, at);
  Value token = ConstantOp::create(op, where(at), oneToken(hidden.size), value, x);
  Value q = linear(token, named("pool.q"), Role::query, inner, hidden, a.qBias, at);
  Value k = linear(x, named("pool.k"), Role::key, inner, hidden, a.kBias, at);
  Value v = linear(x, named("pool.v"), Role::value, inner, hidden, a.vBias, at);
  auto whole = [&](int64_t number) { return op.getI64IntegerAttr(number); };
  Value o = AttendOp::create(
      op, where(at), oneToken(inner.size), q, k, v, Value(), Value(), Value(),
      Value(), ValueRange(), whole(a.heads.value), whole(a.heads.value),
      whole(a.headDim.value), whole(a.headDim.value),
      op.getF64FloatAttr(a.scale), FlatSymbolRefAttr(), FlatSymbolRefAttr(),
      LengthScaleAttr(), FlatSymbolRefAttr(), MaskAttr::get(&context, a.mask),
      DenseI64ArrayAttr(), whole(0), whole(1), op.getF64FloatAttr(0));
  o = linear(o, named("pool.o"), Role::output, hidden, inner, a.oBias, at);
  Value y = normed(o, probe.norm, named("pool.norm"));
  y = linear(y, named("pool.in"), Role::ffnIn, dim(f.size), hidden, f.inBias, at);
  y = ActivateOp::create(op, where(at), y, f.act);
  y = linear(y, named("pool.out"), Role::ffnOut, hidden, dim(f.size), f.outBias,
             at);
  return poolBy(AddOp::create(op, where(at), o, y), Pool::first, 0);
}

Value ModelBuilder::classify(Value x, const Classifier &classifier) {
  const Extent &labels = classifier.labels, &hidden = stack->hidden;
  const auto &readings = classifier.readings;
  Attribute whole; // of the joined weight
  if (classifier.joined) {
    Dimension all = dim(hidden);
    all.size *= int64_t(readings.size());
    whole = weights.value({"classifier.weight", {dim(labels), all}, Role::head});
  }
  Value sum;
  for (auto [i, reading] : llvm::enumerate(readings)) {
    Value vector =
        reading.pooled ? pooled : poolBy(x, reading.kind, reading.skip);
    Value part;
    if (!classifier.joined) {
      part = linear(vector, reading.name, Role::head, dim(labels), dim(hidden),
                    true, labels.at);
    } else {
      std::string name = "classifier." + std::to_string(i) + ".weight";
      if (whole)
        declare(name, {dim(labels), dim(hidden)},
                SliceAttr::get(&context, whole, 1, int64_t(i) * hidden.value,
                               hidden.value, 1),
                labels.at);
      FlatSymbolRefAttr bias;
      if (i == 0)
        bias = parameter("classifier.bias", Role::bias, {dim(labels)}, labels.at);
      part = apply(vector, FlatSymbolRefAttr::get(&context, name), bias,
                   labels.value, labels.at);
    }
    if (!reading.output.empty())
      outputs.push_back({reading.output, part});
    sum = sum ? Value(AddOp::create(op, where(labels.at), sum, part)) : part;
  }
  if (classifier.scale == 1)
    return sum;
  auto scale = ScaleAttr::get(&context, ScaleKind::constant, classifier.scale,
                              StringAttr(), FlatSymbolRefAttr(), Share::unit, 0.0,
                              1.0, 0);
  return AffineOp::create(op, where(labels.at), sum.getType(), sum, scale,
                          ScaleAttr());
}

// Whose lengths are 1: what the two stacks gave, in their order.
void ModelBuilder::compare(const Contrast &contrast) {
  Location at = where(spec.at);
  auto unitLength = NormAttr::get(&context, NormKind::l2_norm, 0.0, Affine::none,
                                  FlatSymbolRefAttr(), FlatSymbolRefAttr());
  Value text = NormOp::create(op, at, vectors[0], unitLength);
  Value image = NormOp::create(op, at, vectors[1], unitLength);
  const Dimension one{1, {}};
  if (Attribute value = weights.value(
          {"logit_scale", {one}, Role::scale, contrast.initialScale}))
    declare("logit_scale", {one},
            ApplyAttr::get(&context, value, ValueFunction::exp), spec.at);
  auto learned = [&](const char *name) {
    return ScaleAttr::get(&context, ScaleKind::learned_scalar, 1.0, StringAttr(),
                          FlatSymbolRefAttr::get(&context, name), Share::model,
                          0.0, 1.0, 0);
  };
  ScaleAttr shift;
  if (contrast.bias) {
    parameter("logit_bias", Role::bias, {one}, spec.at);
    shift = learned("logit_bias");
  }
  constexpr int64_t any = ShapedType::kDynamic;
  auto square = RankedTensorType::get({any, any}, f32);
  auto logits = [&](Value left, Value right) -> Value {
    Value cosine = SimilarityOp::create(op, at, square, left, right);
    return AffineOp::create(op, at, square, cosine, learned("logit_scale"),
                            shift);
  };
  outputs.push_back({"logits_per_image", logits(image, text)});
  outputs.push_back({"logits_per_text", logits(text, image)});
  outputs.push_back({"text_embeds", text});
  outputs.push_back({"image_embeds", image});
}
