// Builds one vector per sequence: pools it by a token or attention, classifies
// it, compares it with another stack's.
#include "compiler/import/model/ModelBuilder.h"

using namespace mlir;
using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;

Value ModelBuilder::poolBy(Value x, Pool kind, int64_t skip) {
  auto type =
      RankedTensorType::get({ShapedType::kDynamic, stack->hidden.value}, f32);
  // Only the mean over a text's tokens depends on which are padding.
  Value mask = kind == Pool::mean ? input("attention_mask") : Value();
  return PoolOp::create(op, where(spec.at), type, x, mask, Value(), kind, skip);
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
  Value token =
      ConstantOp::create(op, where(at), oneToken(hidden.size), value, x);
  Value q =
      linear(token, named("pool.q"), Role::query, inner, hidden, a.qBias, at);
  Value k = linear(x, named("pool.k"), Role::key, inner, hidden, a.kBias, at);
  Value v = linear(x, named("pool.v"), Role::value, inner, hidden, a.vBias, at);
  auto whole = [&](int64_t number) { return op.getI64IntegerAttr(number); };
  Value o = AttendOp::create(
      op, where(at), oneToken(inner.size), q, k, v, Value(), Value(), Value(),
      Value(), Value(), ValueRange(), whole(a.heads.value),
      whole(a.heads.value), whole(a.headDim.value), whole(a.headDim.value),
      op.getF64FloatAttr(a.scale), FlatSymbolRefAttr(), FlatSymbolRefAttr(),
      LengthScaleAttr(), FlatSymbolRefAttr(), MaskAttr::get(&context, a.mask),
      DenseI64ArrayAttr(), whole(0), whole(1), whole(0), op.getF64FloatAttr(0));
  o = linear(o, named("pool.o"), Role::output, hidden, inner, a.oBias, at);
  Value y = normed(o, probe.norm, named("pool.norm"));
  y = linear(y, named("pool.in"), Role::ffnIn, dim(f.size), hidden, f.inBias,
             at);
  y = ActivateOp::create(op, where(at), y, f.act);
  y = linear(y, named("pool.out"), Role::ffnOut, hidden, dim(f.size), f.outBias,
             at);
  return poolBy(AddOp::create(op, where(at), o, y), Pool::first, 0);
}

Value ModelBuilder::classify(Value x, const Classifier &classifier) {
  const Extent &labels = classifier.labels, &hidden = stack->hidden;
  const auto &readings = classifier.readings;
  Attribute whole; // the value of the joined weight
  if (classifier.joined) {
    Dimension all = dim(hidden);
    all.size *= int64_t(readings.size());
    whole = valueOf({"classifier.weight", {dim(labels), all}, Role::head});
  }
  Value sum;
  for (auto [i, reading] : llvm::enumerate(readings)) {
    Value vector =
        reading.pooled ? pooled : poolBy(x, reading.kind, reading.skip);
    const Extent *width = &hidden;
    if (classifier.transform)
      vector = transformed(vector, *classifier.transform,
                           "classifier_transform", width, labels.at);
    Value part;
    if (!classifier.joined) {
      part = linear(vector, reading.name, Role::head, dim(labels), dim(*width),
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
        bias =
            parameter("classifier.bias", Role::bias, {dim(labels)}, labels.at);
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
                              StringAttr(), FlatSymbolRefAttr(), Share::unit,
                              0.0, 1.0, 0);
  return AffineOp::create(op, where(labels.at), sum.getType(), sum, scale,
                          ScaleAttr());
}

// [n + 1, n], where the vectors have n channels: the identity above a row of
// zeros. In memory this is, n times, a row of n + 1 numbers that begins with 1.
Attribute ModelBuilder::identityAndZeros(int64_t n) {
  std::vector<double> row(n + 1, 0.0);
  row[0] = 1;
  Attribute value = NumbersAttr::get(&context, op.getDenseF64ArrayAttr(row),
                                     RankedTensorType::get({1, n + 1}, f32));
  value = RepeatAttr::get(&context, value, n, false);
  return ReshapeAttr::get(&context, value, op.getDenseI64ArrayAttr({n + 1, n}));
}

// Adds a channel to the vectors: factor * vector, then `last`. If both are
// null, the last channel is 1.
Value ModelBuilder::withChannel(Value vector, StringRef name, Attribute factor,
                                Attribute last) {
  const int64_t n =
      llvm::cast<RankedTensorType>(vector.getType()).getShape().back();
  const Dimension in{n, {}}, out{n + 1, {}};
  const std::string weight = (name + ".weight").str(),
                    bias = (name + ".bias").str();
  Attribute matrix = identityAndZeros(n);
  if (factor)
    matrix = TimesAttr::get(&context, matrix, factor);
  if (!last)
    last = NumbersAttr::get(&context, op.getDenseF64ArrayAttr({1}),
                            RankedTensorType::get({1}, f32));
  Attribute zeros = DrawnAttr::get(&context, Distribution::fixed, 0.0, 0.0, 0.0,
                                   0, "zeros", RankedTensorType::get({n}, f32));
  declare(weight, {out, in}, matrix, spec.at);
  declare(bias, {out},
          ConcatAttr::get(&context, ArrayRef<Attribute>{zeros, last}), spec.at);
  return apply(vector, FlatSymbolRefAttr::get(&context, weight),
               FlatSymbolRefAttr::get(&context, bias), out.size, spec.at);
}

// Normalises the vectors of the two stacks and compares them. The scale, and
// the bias as a further channel, are part of the vectors, so that the result of
// the similarity is an output as it is.
void ModelBuilder::compare(const Contrast &contrast) {
  Location at = where(spec.at);
  auto unitLength =
      NormAttr::get(&context, NormKind::l2_norm, 0.0, Affine::none,
                    FlatSymbolRefAttr(), FlatSymbolRefAttr());
  Value text = NormOp::create(op, at, vectors[0], unitLength);
  Value image = NormOp::create(op, at, vectors[1], unitLength);
  outputs.push_back({"text_embeds", text});
  outputs.push_back({"image_embeds", image});

  const Dimension one{1, {}};
  Attribute factor =
      valueOf({"logit_scale", {one}, Role::scale, contrast.initialScale});
  Attribute bias;
  if (contrast.bias)
    bias = valueOf({"logit_bias", {one}, Role::bias});
  if (!factor || (contrast.bias && !bias)) // reported already
    return;
  factor = ApplyAttr::get(&context, factor, ValueFunction::exp);
  if (contrast.bias) {
    text = withChannel(text, "compare.text", factor, {});
    image = withChannel(image, "compare.image", {}, bias);
  } else {
    declare("logit_scale", {one}, factor, spec.at);
    auto scale =
        ScaleAttr::get(&context, ScaleKind::learned_scalar, 1.0, StringAttr(),
                       FlatSymbolRefAttr::get(&context, "logit_scale"),
                       Share::model, 0.0, 1.0, 0);
    text = AffineOp::create(op, at, text.getType(), text, scale, ScaleAttr());
  }
  constexpr int64_t any = ShapedType::kDynamic;
  auto square = RankedTensorType::get({any, any}, f32);
  outputs.push_back(
      {"logits_per_image", SimilarityOp::create(op, at, square, image, text)});
  outputs.push_back(
      {"logits_per_text", SimilarityOp::create(op, at, square, text, image)});
}
