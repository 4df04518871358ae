// The adjoints of attention and of rotations. Must not know how they are
// computed.
#include "compiler/differentiate/Adjoint.h"

using namespace mlir;
using namespace mille::transformer;

namespace mille::differentiate {

template <> SmallVector<Value> reads<RotateOp>(RotateOp, const Primal &) {
  return {};
}

// A rotation turns back by minus its angles: frequencies change their sign.
template <>
LogicalResult adjoint<RotateOp>(RotateOp op, OpBuilder &builder,
                                ValueRange gradients, Primal &primal,
                                Gradients &into) {
  if (!op.getFrequencies())
    return op.emitOpError(
        "has no adjoint where angles are a table or an image's, "
        "so the model cannot be trained");
  auto negated = [&](ArrayRef<double> numbers) {
    SmallVector<double> others;
    for (double number : numbers)
      others.push_back(-number);
    return builder.getDenseF64ArrayAttr(others);
  };
  auto longer = op.getLongContextAttr();
  if (longer && longer.getFrequencies())
    longer = LongContextAttr::get(op.getContext(), longer.getAfter(),
                                  longer.getStretch(),
                                  negated(longer.getFrequencies()));
  into[0] = RotateOp::create(
      builder, op.getLoc(), gradients.front(), primal.at(op.getPositions()),
      op.getHeadsAttr(), op.getHeadDimAttr(), op.getStartAttr(),
      op.getPairingAttr(), negated(*op.getFrequencies()), FlatSymbolRefAttr(),
      longer, op.getAttentionFactorAttr());
  return success();
}

template <> SmallVector<Value> reads<AttendOp>(AttendOp op, const Primal &) {
  return {op.getQuery(), op.getKey(), op.getValue(), op.getResult()};
}
template <>
LogicalResult adjoint<AttendOp>(AttendOp op, OpBuilder &builder,
                                ValueRange gradients, Primal &primal,
                                Gradients &into) {
  if (op.getPast())
    return op.emitOpError("reads a state, so the entry cannot be trained");
  auto at = [&](Value value) { return value ? primal.at(value) : Value(); };
  SmallVector<Value> biases;
  SmallVector<int64_t> wanted;
  SmallVector<Type> types;
  for (auto [i, bias] : llvm::enumerate(op.getBiases())) {
    biases.push_back(primal.at(bias));
    if (primal.isActive(bias)) {
      wanted.push_back(i);
      types.push_back(bias.getType());
    }
  }
  auto made = AttendGradientOp::create(
      builder, op.getLoc(), op.getQuery().getType(), op.getKey().getType(),
      op.getValue().getType(), types, gradients.front(), at(op.getResult()),
      at(op.getQuery()), at(op.getKey()), at(op.getValue()),
      at(op.getKeyMask()), at(op.getPositions()), at(op.getSegments()),
      at(op.getPrefix()), biases, op.getHeadsAttr(), op.getKvHeadsAttr(),
      op.getHeadDimAttr(), op.getValueDimAttr(), op.getScaleAttr(),
      op.getLayerScaleAttr(), op.getHeadScaleAttr(), op.getLengthScaleAttr(),
      op.getSinkAttr(), op.getMaskAttr(), op.getWindowAttr(), op.getChunkAttr(),
      op.getSequencesAttr(), op.getSequenceTokensAttr(), op.getSoftcapAttr(),
      wanted.empty() ? DenseI64ArrayAttr()
                     : builder.getDenseI64ArrayAttr(wanted));
  into[0] = made.getQueryGradient();
  into[1] = made.getKeyGradient();
  into[2] = made.getValueGradient();
  size_t firstBias =
      op.getBiases().empty() ? 0 : op.getBiases().getBeginOperandIndex();
  for (auto [i, gradient] : llvm::zip_equal(wanted, made.getToBiases()))
    into[firstBias + i] = gradient;
  return success();
}

template <>
SmallVector<Value> reads<LinearAttendOp>(LinearAttendOp op, const Primal &) {
  SmallVector<Value> values{op.getQuery(), op.getKey(), op.getValue()};
  if (op.getKeyMask())
    values.push_back(op.getKeyMask());
  return values;
}
// A query's gradient looks back like the result. Those of a key and a value
// look ahead, which is back where tokens are reversed: all three are linear
// attention.
template <>
LogicalResult adjoint<LinearAttendOp>(LinearAttendOp op, OpBuilder &builder,
                                      ValueRange gradients, Primal &primal,
                                      Gradients &into) {
  if (op.getState())
    return op.emitOpError("reads a state, so the entry cannot be trained");
  if (op.getHeads() != op.getKvHeads())
    return op.emitOpError()
           << "has " << int64_t(op.getHeads()) << " heads of queries but "
           << int64_t(op.getKvHeads())
           << " of keys, so the model cannot be trained";
  Value mask = op.getKeyMask() ? primal.at(op.getKeyMask()) : Value();
  auto attend = [&](Value query, Value key, Value value, Value seen,
                    Value like) -> Value {
    const int64_t heads = op.getHeads();
    auto width = [&](Value of) {
      return builder.getI64IntegerAttr(
          cast<ShapedType>(of.getType()).getShape().back() / heads);
    };
    return LinearAttendOp::create(
        builder, op.getLoc(), like.getType(), query, key, value, seen, Value(),
        Value(), op.getHeadsAttr(), op.getKvHeadsAttr(), width(key),
        width(value), op.getScaleAttr(), op.getDecayAttr(), op.getIndexAttr());
  };
  auto reversed = [&](Value x, Value shown = {}) -> Value {
    return ReverseTokensOp::create(builder, op.getLoc(), x.getType(), x, shown);
  };
  Value g = gradients.front(), query = primal.at(op.getQuery()),
        key = primal.at(op.getKey()), value = primal.at(op.getValue());
  into[0] = attend(g, value, key, mask, query);
  Value back = reversed(g), queries = reversed(query);
  into[1] =
      reversed(attend(reversed(value), back, queries, Value(), key), mask);
  into[2] =
      reversed(attend(reversed(key), queries, back, Value(), value), mask);
  return success();
}

template <>
SmallVector<Value> reads<DistanceBiasOp>(DistanceBiasOp, const Primal &) {
  return {};
}
template <>
LogicalResult adjoint<DistanceBiasOp>(DistanceBiasOp op, OpBuilder &builder,
                                      ValueRange gradients, Primal &,
                                      Gradients &) {
  BiasGradientOp::create(builder, op.getLoc(), gradients.front(),
                         op.getTableAttr(), op.getBucketsAttr(),
                         DenseI64ArrayAttr());
  return success();
}

template <> SmallVector<Value> reads<PairBiasOp>(PairBiasOp, const Primal &) {
  return {};
}
template <>
LogicalResult adjoint<PairBiasOp>(PairBiasOp op, OpBuilder &builder,
                                  ValueRange gradients, Primal &, Gradients &) {
  BiasGradientOp::create(builder, op.getLoc(), gradients.front(),
                         op.getTableAttr(), DenseI64ArrayAttr(),
                         op.getIndexAttr());
  return success();
}

template <>
SmallVector<Value> reads<KeyHeadBiasOp>(KeyHeadBiasOp, const Primal &) {
  return {};
}
template <>
LogicalResult adjoint<KeyHeadBiasOp>(KeyHeadBiasOp op, OpBuilder &builder,
                                     ValueRange gradients, Primal &,
                                     Gradients &into) {
  into[0] = KeyHeadGradientOp::create(
      builder, op.getLoc(), op.getInput().getType(), gradients.front());
  return success();
}

void attachAttentionAdjoints(MLIRContext *context) {
  attachAdjoints<RotateOp, AttendOp, LinearAttendOp, DistanceBiasOp, PairBiasOp,
                 KeyHeadBiasOp>(context);
}

} // namespace mille::differentiate
