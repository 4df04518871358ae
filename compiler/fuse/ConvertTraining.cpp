// Converts the loss, gradients of products, tables and attention, and saved
// values from `transformer` to `kernel`. Must not fuse.
#include "compiler/fuse/Converter.h"
#include "dialects/transformer/Training.h"

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

Value Converter::gradientOf(Operation *op, Attribute parameter) {
  auto symbol = cast<FlatSymbolRefAttr>(parameter);
  auto type = typeOf(op->getLoc(), symbol);
  if (failed(type))
    return {};
  return kernel::GradientOp::create(body, op->getLoc(), *type, symbol);
}

// A copy of the weight in a layout that plan chooses. Plan packs other weights
// before any run, but this one changes with each step.
Value Converter::packed(Location location, Value weight, bool transposed) {
  auto type = cast<RankedTensorType>(weight.getType());
  SmallVector<int64_t> shape(type.getShape());
  if (transposed)
    std::swap(shape[0], shape[1]);
  auto packedType = RankedTensorType::get(shape, type.getElementType());
  Value to = tensor::EmptyOp::create(body, location, packedType, ValueRange());
  return kernel::PackOp::create(body, location, packedType, weight, to,
                                transposed)
      .getResult();
}

bool Converter::isTrained() {
  return function.getName() == trainStepName ||
         function.getName() == evaluateName;
}

Value Converter::scaledRows(Location location, Value x, double scale,
                            Value like) {
  if (scale == 1)
    return x;
  RowsSpec spec;
  spec.inputs.push_back(x);
  return makeRows(body, location, spec, rowsOf(like), channelsOf(like),
                  [&](OpBuilder &builder, Location at, ValueRange x) {
                    return scaledPlusBias(builder, at, scale, x);
                  });
}

LogicalResult Converter::convertWeightGradient(WeightGradientOp op) {
  if (op.getExperts())
    return op.emitOpError("is of experts, which no kernel trains yet");
  Value arriving = valueOf(op.getGradient()), input = valueOf(op.getInput());
  if (failed(sameRows(op, {op.getGradient(), op.getInput()})))
    return failure();
  Value to = gradientOf(op, op.getWeightAttr());
  if (!to)
    return failure();
  Value scaled = scaledRows(op.getLoc(), arriving,
                            op.getScale().convertToDouble(), op.getGradient());
  kernel::WeightGradientOp::create(body, op.getLoc(), to.getType(), scaled,
                                   input, to);
  return op.getBiasAttr() ? addColumns(op, arriving, op.getBiasAttr())
                          : success();
}

LogicalResult Converter::convertEmbedGradient(EmbedGradientOp op) {
  for (auto [i, ids] : llvm::enumerate(op.getIds())) {
    if (int64_t offset = op.getOffsets()[i])
      return op.emitOpError("has offset ")
             << offset << ", but no kernel trains a part of a table yet";
    if (failed(sameRows(op, {op.getGradient(), ids})))
      return failure();
    Value to = gradientOf(op, op.getTables()[i]);
    if (!to)
      return failure();
    const double scale = i == 0 ? op.getScale().convertToDouble() : 1;
    Value rows = scaledRows(op.getLoc(), valueOf(op.getGradient()), scale,
                            op.getGradient());
    kernel::EmbedGradientOp::create(body, op.getLoc(), to.getType(), rows,
                                    valueOf(ids), to);
  }
  return success();
}

LogicalResult Converter::convertAttendGradient(AttendGradientOp op) {
  for (auto [name, isThere] :
       {std::pair<StringRef, bool>{"a position bias", !op.getBiases().empty()},
        {"segments", bool(op.getSegments())},
        {"a prefix", bool(op.getPrefix())},
        {"a sink", bool(op.getSinkAttr())},
        {"a scale of each head", bool(op.getHeadScaleAttr())},
        {"a scale of each layer", bool(op.getLayerScaleAttr())},
        {"a scale by length", bool(op.getLengthScaleAttr())},
        {"a chunk", op.getChunk() != 0},
        {"several sequences", op.getSequences() != 1},
        {"sequences of some tokens", op.getSequenceTokens() != 0}})
    if (isThere)
      return op.emitOpError("has ") << name << ", which no kernel trains yet";
  if (failed(sameRows(op, {op.getKey(), op.getValue()})) ||
      failed(sameRows(op, {op.getQuery(), op.getGradient()})))
    return failure();
  SmallVector<Value> outs;
  SmallVector<Type> types;
  for (Value of : {op.getKey(), op.getValue(), op.getQuery()}) {
    outs.push_back(destinationOf(of));
    types.push_back(outs.back().getType());
  }
  auto backward = kernel::AttentionBackwardOp::create(
      body, op.getLoc(), types, valueOf(op.getQuery()), valueOf(op.getKey()),
      valueOf(op.getValue()), valueOf(op.getGradient()),
      op.getKeyMask() ? valueOf(op.getKeyMask()) : Value(),
      tokensOf(spaceOf(op.getQuery())), tokensOf(spaceOf(op.getKey())), outs,
      op.getHeadsAttr(), op.getKvHeadsAttr(), op.getHeadDimAttr(),
      op.getValueDimAttr(), body.getDenseI64ArrayAttr({0, 0, 0}),
      op.getScaleAttr(), body.getBoolAttr(op.getMask() == Mask::causal),
      op.getSoftcapAttr(), op.getWindowAttr());
  values[op.getKeyGradient()] = backward.getResults()[0];
  values[op.getValueGradient()] = backward.getResults()[1];
  values[op.getQueryGradient()] = backward.getResults()[2];
  spaces[op.getKeyGradient()] = spaces[op.getValueGradient()] =
      spaceOf(op.getKey());
  spaces[op.getQueryGradient()] = spaceOf(op.getQuery());
  return success();
}

LogicalResult Converter::convertCrossEntropy(CrossEntropyOp op) {
  if (failed(sameRows(op, {op.getLogits(), op.getLabels()})))
    return failure();
  Value rows = rowsOf(op.getLogits());
  Value losses = makeDestination(body, op.getLoc(), rows, 1),
        gradient = destinationOf(op.getLogits());
  auto loss = kernel::CrossEntropyOp::create(
      body, op.getLoc(), TypeRange{losses.getType(), gradient.getType()},
      valueOf(op.getLogits()), valueOf(op.getLabels()), valueOf(op.getWeight()),
      losses, gradient, op.getSmoothingAttr());
  values[op.getLosses()] = loss.getResults()[0];
  values[op.getGradient()] = loss.getResults()[1];
  spaces[op.getLosses()] = spaceOf(op.getLogits());
  return success();
}

void Converter::save(Location location, Value value, StringRef name) {
  if (layer)
    kernel::SaveOp::create(body, location, value, body.getStringAttr(name));
  else
    savedValues[name] = value;
}

LogicalResult Converter::convertSave(SaveOp op) {
  save(op.getLoc(), valueOf(op.getValue()), op.getName());
  return success();
}

LogicalResult Converter::convertSaved(SavedOp op) {
  if (!layer) {
    values[op.getResult()] = savedValues.lookup(op.getName());
    return success();
  }
  Value like = destinationOf(op.getResult());
  Value rows = like.getDefiningOp()->getOperand(0);
  values[op.getResult()] =
      kernel::SavedOp::create(body, op.getLoc(), like.getType(),
                              op.getNameAttr(), rows)
          .getResult();
  if (like.use_empty())
    like.getDefiningOp()->erase();
  return success();
}
