// The end of a stack: the head's logits, and one vector per sequence.
#include "compiler/import/ModelBuilder.h"

using namespace mlir;
using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

Value ModelBuilder::head(Value x) {
  const Head &head = *spec.head;
  const Extent *width = stack->last ? &stack->last.width : &stack->hidden;
  if (head.transform) {
    const HeadTransform &transform = *head.transform;
    const Extent *in = width;
    if (transform.width)
      width = &transform.width;
    x = linear(x, "head_transform", Role::dense, dim(*width), dim(*in),
               transform.bias, head.at);
    x = ActivateOp::create(op, where(head.at), x, transform.act);
    x = normed(x, transform.norm, "head_transform.norm", width);
  }
  const Extent &out = head.outputs ? head.outputs : stack->vocab;
  const bool tied =
      head.tied && !weights.differ("head.weight", stack->sharedWords
                                                      ? "embed.weight"
                                                      : named("embed.weight"));
  auto weight = tied ? wordTable(stack->sharedWords)
                     : parameter("head.weight", Role::head,
                                      {dim(out), dim(*width)}, head.at);
  FlatSymbolRefAttr bias;
  if (head.bias)
    bias = parameter("head.bias", Role::bias, {dim(out)}, head.at);
  x = apply(x, weight, bias, out.value, head.at, head.scale);
  if (head.softcap > 0)
    x = SoftcapOp::create(op, where(head.at), x,
                          op.getF64FloatAttr(head.softcap));
  return x;
}

void ModelBuilder::pool(Value x) {
  const Pooling &pooling = *stack->pooling;
  const bool byId =
      pooling.kind == Pool::first_id || pooling.kind == Pool::highest_id;
  const bool masked =
      !pooling.everyToken &&
      (pooling.kind == Pool::last || pooling.kind == Pool::mean);
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
