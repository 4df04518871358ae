// Builds scores that depend on contents: on a query or key and the distance, by
// a table that every layer projects, or on a key's values.
#include "compiler/import/model/ModelBuilder.h"

using namespace mlir;
using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;

// The stack's table of distances, with its norm if it has one.
Attribute ModelBuilder::distances(const ContentTable &table, LocationAttr at) {
  Attribute rows = parameter(named("relative.weight"), Role::position,
                             {dim(table.entries), dim(stack->hidden)}, at);
  if (!table.norm.present())
    return rows;
  NormAttr norm = this->norm(table.norm, named("relative_norm"));
  return NormedAttr::get(&context, rows, norm.getWeight(), norm.getBias(),
                         transformer::F64(table.norm.eps));
}

// x (queries or keys) times this layer's projection of the distances. The
// projection has its own weights or those of the other side.
Value ModelBuilder::contentBias(Value x, bool ofKey, const Attention &a,
                                StringRef name, LocationAttr at) {
  const ContentTable &table = *a.content;
  const StringRef side = ofKey ? "q" : "k";
  std::string own =
      (name + (table.ownProjections ? "distance_" : "") + side).str();
  Dimension out = dim(a.heads, a.headDim);
  auto weight = parameter(own + ".weight", ofKey ? Role::query : Role::key,
                          {out, dim(stack->hidden)}, at);
  auto bias = parameter(own + ".bias", Role::bias, {out}, at);
  std::string projected = (name + "distances_" + side + ".weight").str();
  auto symbol = FlatSymbolRefAttr::get(&context, projected);
  if (made.insert(projected).second)
    declare(projected, {dim(table.entries), out},
            PlusAttr::get(
                &context,
                ProductAttr::get(&context, distances(table, at), weight), bias),
            at);
  constexpr int64_t any = ShapedType::kDynamic;
  return ContentBiasOp::create(
      op, where(at), RankedTensorType::get({any, a.heads.value, any, any}, f32),
      x, op.getBoolAttr(ofKey), symbol, op.getF64FloatAttr(table.factor),
      op.getDenseI64ArrayAttr(table.rows));
}

Value ModelBuilder::scoreOfValue(Value value, const Attention &a,
                                 StringRef name, LocationAttr at) {
  // All query heads of a key head share its numbers.
  const Dimension keys = dim(a.kvHeads);
  auto part = [&](StringRef part, llvm::SmallVector<Dimension, 2> shape,
                  Role role) {
    return parameter((name + part).str(), role, std::move(shape), at, 0.0);
  };
  FlatSymbolRefAttr weight =
                        part("score.weight", {keys, dim(a.kvHeads, a.valueDim)},
                             Role::dense),
                    bias;
  if (a.scoreOfValueBias)
    bias = part("score.bias", {keys}, Role::bias);
  Location location = where(at);
  Value score = apply(value, weight, bias, keys.size, at);
  score = ActivateOp::create(op, location, score, Activation::softplus);
  auto scale = ScaleAttr::get(
      &context, ScaleKind::learned_channel, 1.0, StringAttr(),
      part("score_scale", {keys}, Role::scale), Share::unit, 0.0, 1.0, 0);
  score = AffineOp::create(op, location, score, scale, ScaleAttr());
  score = ActivateOp::create(op, location, score, Activation::exp);
  constexpr int64_t any = ShapedType::kDynamic;
  return KeyHeadBiasOp::create(
      op, location, RankedTensorType::get({any, a.heads.value, any, any}, f32),
      score);
}
