// Builds the end of a stack: the head's logits, or one vector per sequence.
#include "compiler/import/model/ModelBuilder.h"

using namespace mlir;
using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;

// Dense, activation and norm. `width`: on entry the input's, then the result's.
Value ModelBuilder::transformed(Value x, const HeadTransform &transform,
                                StringRef name, const Extent *&width,
                                LocationAttr at) {
  const Extent *in = width;
  if (transform.width)
    width = &transform.width;
  x = linear(x, name, Role::dense, dim(*width), dim(*in), transform.bias, at);
  x = ActivateOp::create(op, where(at), x, transform.act);
  return normed(x, transform.norm, (name + ".norm").str(), width);
}

void ModelBuilder::head(Value x) {
  const Head &head = *spec.head;
  const Extent *width = stack->last ? &stack->last.width : &stack->hidden;
  if (head.transform)
    x = transformed(x, *head.transform, "head_transform", width, head.at);
  if (!head.rows.empty())
    return headByRows(x, head, *width);
  const Extent &out = head.outputs ? head.outputs : stack->vocab;
  const std::string words =
      stack->sharedWords ? "embed.weight" : named("embed.weight");
  const std::string weightName = head.name + ".weight";
  const bool tied = head.tied && !weights.differ(weightName, words);
  auto weight = tied ? wordTable(stack->sharedWords)
                     : parameter(weightName, Role::head,
                                 {dim(out), dim(*width)}, head.at);
  FlatSymbolRefAttr bias;
  if (head.bias)
    bias = parameter(head.name + ".bias", Role::bias, {dim(out)}, head.at);
  x = apply(x, weight, bias, out.value, head.at, head.scale);
  if (head.softcap > 0)
    x = SoftcapOp::create(op, where(head.at), x,
                          op.getF64FloatAttr(head.softcap));
  outputs.push_back({"logits", x, head.oneNumber});
}

// Makes a separate output from each row of the weight.
void ModelBuilder::headByRows(Value x, const Head &head, const Extent &width) {
  const Dimension one{1, {}}, in = dim(width);
  const Dimension all{int64_t(head.rows.size()), {&head.outputs}};
  Attribute weight =
      weights.value({head.name + ".weight", {all, in}, Role::head});
  Attribute bias = weights.value({head.name + ".bias", {all}, Role::bias});
  if (!weight || !bias) // reported already
    return;
  for (size_t i = 0; i < head.rows.size(); ++i) {
    const std::string name = head.name + "." + std::to_string(i);
    auto row = [&](Attribute value) {
      return SliceAttr::get(&context, value, 0, int64_t(i), 1, 1);
    };
    declare(name + ".weight", {one, in}, row(weight), head.at);
    declare(name + ".bias", {one}, row(bias), head.at);
    Value number =
        apply(x, FlatSymbolRefAttr::get(&context, name + ".weight"),
              FlatSymbolRefAttr::get(&context, name + ".bias"), 1, head.at);
    outputs.push_back({head.rows[i], number, true});
  }
}

void ModelBuilder::pool(Value x) {
  const Pooling &pooling = *stack->pooling;
  const bool byId =
      pooling.kind == Pool::first_id || pooling.kind == Pool::highest_id;
  const bool masked = !pooling.everyToken && (pooling.kind == Pool::last ||
                                              pooling.kind == Pool::mean);
  const Extent &hidden = stack->hidden;
  auto type = RankedTensorType::get({ShapedType::kDynamic, hidden.value}, f32);
  Value y;
  if (pooling.probe)
    y = poolByProbe(x, *pooling.probe);
  else
    y = PoolOp::create(op, where(spec.at), type, x,
                       masked ? input("attention_mask") : Value(),
                       byId ? input("input_ids") : Value(), pooling.kind,
                       pooling.skip, pooling.id);
  y = normed(y, pooling.norm, named("pool_norm"));
  if (pooling.dense) {
    y = linear(y, named("pooler"), Role::dense,
               dim(pooling.width ? pooling.width : hidden), dim(hidden), true,
               spec.at);
    if (pooling.act != Activation::identity)
      y = ActivateOp::create(op, where(spec.at), y, pooling.act);
  }
  pooled = y;
  if (!pooling.output.empty())
    outputs.push_back({pooling.output, y});
  if (pooling.projection) {
    y = linear(y, named("projection"), Role::dense, dim(pooling.projection),
               dim(hidden), false, pooling.projection.at);
    outputs.push_back({pooling.projected, y});
  }
  vectors.push_back(y);
}
