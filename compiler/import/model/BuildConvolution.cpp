// Builds convolutions over the tokens of a text. Must need no op of their own:
// attention moves the tokens, and a linear sums over them.
#include "compiler/import/model/ModelBuilder.h"

using namespace mlir;
using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;

// Neighbours side by side: of each head of c.heads its c.taps tokens. The score
// of a key is 0 at the tap's distance and far below elsewhere. The sink is in
// between: it takes all where the sequence has no such token, or hides it.
// exp(-100) is nothing beside 1, so that what is moved keeps its bits.
Value ModelBuilder::neighbours(const Convolution &c, StringRef name,
                               LocationAttr at) {
  constexpr double nowhere = -1e9, sinkScore = -100;
  const int64_t keyHeads = c.heads.value, heads = keyHeads * c.taps,
                width = stack->hidden.value / keyHeads, reach = c.taps / 2;
  auto numbers = [&](StringRef part, llvm::ArrayRef<double> values,
                     llvm::ArrayRef<int64_t> shape) {
    std::string own = (name + part).str();
    llvm::SmallVector<Dimension, 2> dimensions;
    for (int64_t extent : shape)
      dimensions.push_back({extent, {&c.heads}});
    if (made.insert(own).second)
      declare(own, dimensions,
              NumbersAttr::get(&context, op.getDenseF64ArrayAttr(values),
                               RankedTensorType::get(shape, f32)),
              at);
    return FlatSymbolRefAttr::get(&context, own);
  };
  // Rows of the table are taps, the last one any other distance.
  std::vector<double> scores((c.taps + 1) * heads, nowhere);
  for (int64_t head = 0; head < heads; ++head)
    scores[head % c.taps * heads + head] = 0;
  std::vector<int64_t> buckets{c.taps};
  for (int64_t tap = 0; tap < c.taps; ++tap)
    buckets.push_back(tap);
  buckets.push_back(c.taps);
  Location here = where(at);
  constexpr int64_t any = ShapedType::kDynamic;
  Value bias = DistanceBiasOp::create(
      op, here, RankedTensorType::get({any, heads, any, any}, f32), layerInput,
      numbers("scores", scores, {c.taps + 1, heads}),
      op.getDenseI64ArrayAttr(buckets));
  auto sink = numbers("sink", std::vector<double>(heads, sinkScore), {heads});
  // Scores are of distances alone, so queries and keys are zeros.
  auto zeros = [&](StringRef part, int64_t columns) {
    std::string own = (name + part).str();
    auto type = RankedTensorType::get({columns, stack->hidden.value}, f32);
    if (made.insert(own).second)
      declare(own, {Dimension{columns, {&c.heads}}, dim(stack->hidden)},
              DrawnAttr::get(&context, Distribution::fixed, 0.0, 0.0, 0.0, 0,
                             "zeros", type),
              at);
    return apply(layerInput, FlatSymbolRefAttr::get(&context, own), {}, columns,
                 at);
  };
  Value query = zeros("q", heads), key = zeros("k", keyHeads);
  return AttendOp::create(
      op, here, as(layerInput, heads * width), query, key, layerInput,
      input("attention_mask"), /*positions=*/Value(), /*segments=*/Value(),
      /*prefix=*/Value(), /*past=*/Value(), bias, op.getI64IntegerAttr(heads),
      op.getI64IntegerAttr(keyHeads), op.getI64IntegerAttr(1),
      op.getI64IntegerAttr(width), op.getF64FloatAttr(1), FlatSymbolRefAttr(),
      FlatSymbolRefAttr(), LengthScaleAttr(), sink,
      MaskAttr::get(&context, Mask::bidirectional),
      op.getDenseI64ArrayAttr({reach + 1, reach + 1}), op.getI64IntegerAttr(0),
      op.getI64IntegerAttr(1), op.getI64IntegerAttr(0), op.getF64FloatAttr(0));
}

Value ModelBuilder::convolve(const Branch &branch, int64_t layer) {
  const Convolution &c = *branch.convolution.at(layer);
  LocationAttr at = branch.at;
  const std::string name = layerPrefix(layer) + branch.name + ".";
  const int64_t hidden = stack->hidden.value, keyHeads = c.heads.value;
  Value x = neighbours(c, name, at);
  // Stored as [out, in, taps]; x has a head's taps side by side.
  const std::string weight = name + "weight";
  if (made.insert(weight).second)
    if (Attribute value = valueOf(
            {weight,
             {dim(stack->hidden), dim(stack->hidden), Dimension{c.taps, {}}},
             Role::dense})) {
      auto shaped = [&](llvm::ArrayRef<int64_t> shape) {
        value =
            ReshapeAttr::get(&context, value, op.getDenseI64ArrayAttr(shape));
      };
      shaped({hidden * keyHeads, hidden / keyHeads, c.taps});
      value =
          PermuteAttr::get(&context, value, op.getDenseI64ArrayAttr({0, 2, 1}));
      shaped({hidden, hidden * c.taps});
      declare(
          weight,
          {dim(stack->hidden), Dimension{hidden * c.taps, {&stack->hidden}}},
          value, at);
    }
  auto bias = parameter(name + "bias", Role::bias, {dim(stack->hidden)}, at);
  x = apply(x, FlatSymbolRefAttr::get(&context, weight), bias, hidden, at);
  return c.act == Activation::identity
             ? x
             : ActivateOp::create(op, where(at), x, c.act).getResult();
}
