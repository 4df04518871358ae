// Builds what attention over an image's tokens needs: biases by pair, rotation
// by a table, windows.
#include "compiler/import/model/Coordinates.h"
#include "compiler/import/model/ModelBuilder.h"

using namespace mlir;
using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;

// Computes a table from coordinates: 16 sigmoid(W2 relu(W1 x + b)).
Attribute ModelBuilder::computedBias(const PairBias &bias, StringRef name,
                                     const Extent &heads, LocationAttr at) {
  const Dimension width{bias.width, {}}, two{2, {}};
  auto wanted = [&](const char *end, Role role,
                    SmallVector<Dimension, 2> shape) {
    return valueOf({(name + end).str(), std::move(shape), role});
  };
  Attribute in = wanted(".in.weight", Role::dense, {width, two});
  Attribute offset = wanted(".in.bias", Role::bias, {width});
  Attribute out = wanted(".out.weight", Role::dense, {dim(heads), width});
  if (!in || !offset || !out)
    return {};
  Attribute x =
      NumbersAttr::get(&context, op.getDenseF64ArrayAttr(bias.coordinates),
                       RankedTensorType::get({bias.entries, 2}, f32));
  x = ProductAttr::get(&context, x, in);
  x = PlusAttr::get(&context, x, offset);
  x = ApplyAttr::get(&context, x, ValueFunction::relu);
  x = ProductAttr::get(&context, x, out);
  x = ApplyAttr::get(&context, x, ValueFunction::sigmoid);
  return TimesAttr::get(&context, x, op.getF64FloatAttr(16));
}

// One bias for the tokens of `like`, which are those of one sequence.
Value ModelBuilder::pairBias(const PairBias &bias, StringRef layerName,
                             const Attention &attention, Value like,
                             LocationAttr at) {
  const Extent &heads = attention.heads;
  const std::string name =
      bias.shared ? named("relative") : (layerName + "relative").str();
  if (bias.shared && sharedPairBias)
    return sharedPairBias;
  const std::string weight = name + ".weight";
  const Dimension entries{bias.entries, {}};
  auto table = FlatSymbolRefAttr::get(&context, weight);
  if (bias.coordinates.empty())
    parameter(weight, Role::position, {entries, dim(heads)}, at);
  else if (made.insert(weight).second)
    if (Attribute value = computedBias(bias, name, heads, at))
      declare(weight, {entries, dim(heads)}, value, at);
  int64_t n = 1;
  while (n * n < int64_t(bias.index.size()))
    ++n;
  auto type =
      RankedTensorType::get({ShapedType::kDynamic, heads.value, n, n}, f32);
  OpBuilder::InsertionGuard guard(op);
  if (bias.shared) { // build it before the unit: later units use it too
    Operation *unit = op.getInsertionBlock()->getParentOp();
    op.setInsertionPoint(unit);
    like = llvm::cast<ResidualOp>(unit).getInput();
  }
  Value result = PairBiasOp::create(op, where(at), type, like, table,
                                    op.getDenseI64ArrayAttr(bias.index));
  if (bias.shared)
    sharedPairBias = result;
  return result;
}

// The rotation of an image whose size each run chooses, for all its readers.
Value ModelBuilder::rotationOfRun(const AxialRope &rope, const Extent &headDim,
                                  LocationAttr at) {
  if (patchRotation)
    return patchRotation;
  const Image &image = *stack->image;
  OpBuilder::InsertionGuard guard(op);
  op.setInsertionPointToStart(&forward.getBody().front());
  patchRotation = PatchRotationOp::create(
      op, where(at), stream(headDim.value / 4 * 4), inputNamed("pixel_values"),
      op.getDenseI64ArrayAttr(
          {image.patchHeight.value, image.patchWidth.value}),
      op.getI64IntegerAttr(image.leadingTokens()),
      op.getF64FloatAttr(rope.theta), op.getI64IntegerAttr(headDim.value));
  return patchRotation;
}

Value ModelBuilder::rotateAxially(Value x, const AxialRope &rope,
                                  const Extent &heads, const Extent &headDim,
                                  LocationAttr at) {
  if (stack->image && stack->image->ofRuns)
    return RotateOp::create(
        op, where(at), x.getType(), x, rotationOfRun(rope, headDim, at),
        op.getI64IntegerAttr(heads.value), op.getI64IntegerAttr(headDim.value),
        op.getI64IntegerAttr(0), PairingAttr::get(&context, Pairing::half),
        DenseF64ArrayAttr(), FlatSymbolRefAttr(), LongContextAttr(),
        op.getF64FloatAttr(1));
  const std::string name = named("rotation.weight");
  const int64_t columns = headDim.value / 4 * 4;
  if (made.insert(name).second) {
    std::vector<double> numbers =
        axialRotation(rope.grid, rope.leading, headDim.value, rope.theta);
    auto type = RankedTensorType::get({tokens, columns}, f32);
    declare(name, {Dimension{tokens, {}}, Dimension{columns, {}}},
            NumbersAttr::get(&context, op.getDenseF64ArrayAttr(numbers), type),
            at);
  }
  SmallVector<int64_t> rows(tokens);
  for (int64_t i = 0; i < tokens; ++i)
    rows[i] = i;
  return RotateOp::create(
      op, where(at), x.getType(), x, tokenNumbers(rows),
      op.getI64IntegerAttr(heads.value), op.getI64IntegerAttr(headDim.value),
      op.getI64IntegerAttr(0), PairingAttr::get(&context, Pairing::half),
      DenseF64ArrayAttr(), FlatSymbolRefAttr::get(&context, name),
      LongContextAttr(), op.getF64FloatAttr(1));
}

// Moves tokens of an image whose size each run chooses.
Value ModelBuilder::move(Value x, Move how, ArrayRef<int64_t> side,
                         int64_t size, int64_t shift) {
  const int64_t width = llvm::cast<RankedTensorType>(x.getType()).getDimSize(2);
  tokens = ShapedType::kDynamic;
  return MovePatchesOp::create(
      op, x.getLoc(), stream(how == Move::merge ? 4 * width : width), x,
      inputNamed("pixel_values"), MoveAttr::get(&context, how),
      op.getDenseI64ArrayAttr(side), op.getI64IntegerAttr(size),
      op.getI64IntegerAttr(shift));
}

Value ModelBuilder::intoWindows(Value x, const WindowPlan &plan) {
  if (isSized(x))
    return move(x, Move::into_windows, plan.side, plan.size, plan.shiftOfRuns);
  const std::vector<int64_t> index = plan.windows().partition();
  tokens = int64_t(index.size());
  return gatherTokens(x, index, 1);
}

Value ModelBuilder::outOfWindows(Value x, const WindowPlan &plan) {
  if (isSized(x))
    return move(x, Move::out_of_windows, plan.side, plan.size,
                plan.shiftOfRuns);
  tokens = plan.grid.tokens();
  return gatherTokens(x, plan.windows().reverse(), 1);
}

// A mask of the tokens of a window that were neighbours before the shift; null
// without a shift.
Value ModelBuilder::segments(const WindowPlan &plan) {
  if (tokens == ShapedType::kDynamic && plan.shiftOfRuns) {
    constexpr int64_t any = ShapedType::kDynamic;
    return WindowSegmentsOp::create(
        op, op.getUnknownLoc(),
        RankedTensorType::get({any, any}, op.getI32Type()),
        inputNamed("pixel_values"), op.getDenseI64ArrayAttr(plan.side),
        op.getI64IntegerAttr(plan.size),
        op.getI64IntegerAttr(plan.shiftOfRuns));
  }
  return plan.shift ? tokenNumbers(plan.windows().segments()) : Value();
}

Value ModelBuilder::countShown(int64_t each, LocationAttr at) {
  return countTokens(input("attention_mask"), IntegerAttr(), 0, each, at);
}

// Counts tokens whose id is not `padding`, or, without `padding`, tokens that
// are not 0.
Value ModelBuilder::countTokens(Value ids, IntegerAttr padding, int64_t first,
                                int64_t each, LocationAttr at) {
  return CountTokensOp::create(
      op, where(at), ids.getType(), ids, /*past=*/Value(), padding,
      op.getI64IntegerAttr(first), op.getI64IntegerAttr(each));
}
