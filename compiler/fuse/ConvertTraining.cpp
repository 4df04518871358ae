// Converts the loss, gradients of products, tables and attention, and saved
// values from `transformer` to `kernel`. Must not fuse.
#include "compiler/fuse/Activations.h"
#include "compiler/fuse/AttentionBiases.h"
#include "compiler/fuse/Converter.h"
#include "dialects/kernel/Backward.h"
#include "dialects/transformer/Training.h"

#include <numeric>

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
Value Converter::packed(Location location, Value weight, bool transposed,
                        Value starts) {
  auto type = cast<RankedTensorType>(weight.getType());
  SmallVector<int64_t> shape(type.getShape());
  if (transposed)
    std::swap(shape.end()[-2], shape.end()[-1]);
  auto packedType = RankedTensorType::get(shape, type.getElementType());
  Value to = tensor::EmptyOp::create(body, location, packedType, ValueRange());
  return kernel::PackOp::create(body, location, packedType, weight, starts, to,
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
  RowsParts spec;
  spec.inputs.push_back(x);
  return makeRows(body, location, spec, rowsOf(like), channelsOf(like),
                  [&](OpBuilder &builder, Location at, ValueRange x) {
                    return scaledPlusBias(builder, at, scale, x);
                  });
}

// 1 for each row of the weight but those that fixed_rows names: 0.
static Attribute movingRows(WeightGradientOp op, ArrayRef<int64_t> fixed) {
  const int64_t rows = op.getGradient().getType().getShape().back();
  SmallVector<double> factors;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t place = row % fixed[0] - fixed[1];
    factors.push_back(place >= 0 && place < fixed[2] ? 0 : 1);
  }
  MLIRContext *context = op.getContext();
  return NumbersAttr::get(
      context, DenseF64ArrayAttr::get(context, factors),
      RankedTensorType::get({rows}, Float32Type::get(context)));
}

LogicalResult Converter::convertWeightGradient(WeightGradientOp op) {
  Routing *routing = op.getExperts() ? routingOf(op, op.getExperts()) : nullptr;
  if ((op.getExperts() && !routing) ||
      failed(sameRows(op, {op.getGradient(), op.getInput()})))
    return failure();
  Value arriving = valueOf(op.getGradient());
  Value to = gradientOf(op, op.getWeightAttr());
  if (!to)
    return failure();
  Value scaled = scaledRows(op.getLoc(), arriving,
                            op.getScale().convertToDouble(), op.getGradient());
  if (auto fixed = op.getFixedRows()) {
    Value moves = weight(op.getLoc(), movingRows(op, *fixed));
    if (!moves)
      return failure();
    scaled = timesFactors(op.getLoc(), scaled, moves, op.getGradient());
  }
  kernel::WeightGradientOp::create(body, op.getLoc(), to.getType(), scaled,
                                   valueOf(op.getInput()),
                                   routing ? routing->starts : Value(), to);
  if (!op.getBiasAttr())
    return success();
  return routing ? addExpertBias(op, *routing)
                 : addColumns(op, arriving, op.getBiasAttr());
}

// Rows of a part of a table as rows of the whole table.
Value Converter::shifted(Location location, Value ids, Value rows,
                         int64_t offset) {
  if (!offset)
    return ids;
  // An id has no layer, and the embedding's gradient reads it again.
  Attribute number = head.getI64IntegerAttr(offset);
  return once({ids.getAsOpaquePointer(), number.getAsOpaquePointer()},
              [&]() -> Value {
                Value to = makeIndices(body, location, rows);
                return kernel::ShiftOp::create(body, location, to.getType(),
                                               ids, offset, to)
                    .getResult();
              });
}

LogicalResult Converter::convertEmbedGradient(EmbedGradientOp op) {
  for (auto [i, ids] : llvm::enumerate(op.getIds())) {
    if (failed(sameRows(op, {op.getGradient(), ids})))
      return failure();
    Value to = gradientOf(op, op.getTables()[i]);
    if (!to)
      return failure();
    const double scale = i == 0 ? op.getScale().convertToDouble() : 1;
    Value rows = scaledRows(op.getLoc(), valueOf(op.getGradient()), scale,
                            op.getGradient());
    kernel::EmbedGradientOp::create(
        body, op.getLoc(), to.getType(), rows,
        shifted(op.getLoc(), valueOf(ids), rowsOf(ids), op.getOffsets()[i]),
        to);
  }
  return success();
}

// The factors of scores that a query carries: numbers of a layer, of a row.
FailureOr<SmallVector<Value>> Converter::queryFactors(AttendGradientOp op) {
  SmallVector<Value> factors;
  if (Attribute scale = op.getLayerScaleAttr()) {
    factors.push_back(weight(op.getLoc(), scale));
    if (!factors.back())
      return failure();
  }
  auto ofLength = queryScaleOf(op, tokensOf(spaceOf(op.getQuery())));
  if (failed(ofLength))
    return failure();
  if (*ofLength)
    factors.push_back(*ofLength);
  return factors;
}

// The head of each column of a query.
static SmallVector<int64_t> headsOfColumns(AttendGradientOp op) {
  SmallVector<int64_t> heads;
  for (int64_t h = 0; h < int64_t(op.getHeads()); ++h)
    heads.append(op.getHeadDim(), h);
  return heads;
}

// The factor of each of a query's columns: its head's.
FailureOr<SmallVector<Value>> Converter::headFactors(AttendGradientOp op) {
  if (!op.getHeadScaleAttr())
    return SmallVector<Value>();
  Value scale = weight(op.getLoc(), op.getHeadScaleAttr());
  if (!scale)
    return failure();
  SmallVector<int64_t> from = headsOfColumns(op);
  return SmallVector<Value>{
      spread(op.getLoc(), scale, from, {int64_t(from.size())})};
}

// x times the factors of its row, like the original `like`.
Value Converter::timesFactors(Location location, Value x, ValueRange factors,
                              Value like) {
  if (factors.empty())
    return x;
  RowsParts spec;
  spec.inputs.push_back(x);
  llvm::append_range(spec.inputs, factors);
  return makeRows(body, location, spec, rowsOf(like), channelsOf(like),
                  [](OpBuilder &builder, Location at, ValueRange x) {
                    Value product = x[0];
                    for (Value next : x.drop_front())
                      product =
                          arith::MulFOp::create(builder, at, product, next);
                    return product;
                  });
}

LogicalResult Converter::checkAttendGradient(AttendGradientOp op) {
  if (op.getPrefix())
    return op.emitOpError("has a prefix, which no kernel trains yet");
  if (failed(sameRows(op, {op.getKey(), op.getValue()})))
    return failure();
  return sameRows(op, {op.getQuery(), op.getGradient()});
}

// The columns of a head of the gradient of a table that is trained.
static int64_t columnsOfGradient(Operation *bias) {
  if (auto pair = dyn_cast<PairBiasOp>(bias))
    return cast<ShapedType>(pair.getType()).getDimSize(3);
  return cast<DistanceBiasOp>(bias).getBuckets().size();
}

// Whether a bias, by its number, is of keys and heads.
static bool isOfKeyHeads(AttendGradientOp op, int64_t number) {
  return bool(op.getBiases()[number].getDefiningOp<KeyHeadBiasOp>());
}

// The ops of these gradients add them to what the biases are made of.
void Converter::setBiasGradients(AttendGradientOp op,
                                 kernel::AttentionBackwardOp backward) {
  using kernel::GradientOf;
  for (auto [number, bias] :
       llvm::zip(op.getBiasGradients().value_or(ArrayRef<int64_t>()),
                 op.getToBiases())) {
    values[bias] = kernel::resultOf(backward, isOfKeyHeads(op, number)
                                                  ? GradientOf::key_head_bias
                                                  : GradientOf::bias);
    spaces[bias] = spaceOf(op.getKey());
  }
}

LogicalResult Converter::convertAttendGradient(AttendGradientOp op) {
  Biases biases;
  if (failed(checkAttendGradient(op)))
    return failure();
  for (Value bias : op.getBiases())
    if (failed(addTrainedBias(op, bias, biases)))
      return failure();
  auto queries = tokensOfSequence(op, op.getQuery());
  auto keys = tokensOfSequence(op, op.getKey());
  if (failed(queries) || failed(keys))
    return failure();
  auto factors = queryFactors(op);
  auto table = trainedTableOf(biases);
  Value sink =
      op.getSinkAttr() ? weight(op.getLoc(), op.getSinkAttr()) : Value();
  if (failed(factors) || failed(table) || bool(sink) != bool(op.getSinkAttr()))
    return failure();
  auto optional = [&](Value given) { return given ? valueOf(given) : Value(); };
  SmallVector<Value> outs{destinationOf(op.getKey()),
                          destinationOf(op.getValue())};
  const bool trainsKeyHeads =
      llvm::any_of(op.getBiasGradients().value_or(ArrayRef<int64_t>()),
                   [&](int64_t number) { return isOfKeyHeads(op, number); });
  Value rows = rowsOf(op.getQuery());
  const int64_t heads = op.getHeads();
  Value query = timesFactors(op.getLoc(), valueOf(op.getQuery()), *factors,
                             op.getQuery());
  auto ofHeads = headFactors(op);
  if (failed(ofHeads))
    return failure();
  if (trainsKeyHeads)
    outs.push_back(makeDestination(
        body, op.getLoc(), rowsOf(op.getKey()),
        cast<ShapedType>(biases.keyHeadBias.getType()).getDimSize(1)));
  if (*table)
    outs.push_back(makeDestination(body, op.getLoc(), rows,
                                   heads * columnsOfGradient(biases.trained)));
  if (sink)
    outs.push_back(makeDestination(body, op.getLoc(), rows, heads));
  outs.push_back(destinationOf(op.getQuery()));
  auto backward = kernel::AttentionBackwardOp::create(
      body, op.getLoc(), TypeRange(ValueRange(outs)),
      timesFactors(op.getLoc(), query, *ofHeads, op.getQuery()),
      valueOf(op.getKey()), valueOf(op.getValue()), valueOf(op.getGradient()),
      optional(op.getKeyMask()), biases.keyHeadBias, sink, *table,
      optional(op.getSegments()), *queries, *keys, outs, op.getHeadsAttr(),
      op.getKvHeadsAttr(), op.getHeadDimAttr(), op.getValueDimAttr(),
      body.getDenseI64ArrayAttr({0, 0, 0}), op.getScaleAttr(),
      body.getBoolAttr(op.getMask() == Mask::causal), op.getSoftcapAttr(),
      biases.slopes, op.getWindowAttr(), op.getChunkAttr(),
      *table ? kernel::BiasByAttr::get(op.getContext(), biases.by)
             : kernel::BiasByAttr(),
      trainsKeyHeads ? body.getUnitAttr() : UnitAttr());
  ValueRange results = backward.getResults();
  values[op.getKeyGradient()] = results[0];
  values[op.getValueGradient()] = results[1];
  if (!ofHeads->empty() &&
      failed(addColumns(op, {query, results.back()}, op.getHeadScaleAttr(),
                        headsOfColumns(op))))
    return failure();
  llvm::append_range(*factors, *ofHeads);
  values[op.getQueryGradient()] =
      timesFactors(op.getLoc(), results.back(), *factors, op.getQuery());
  spaces[op.getKeyGradient()] = spaces[op.getValueGradient()] =
      spaceOf(op.getKey());
  spaces[op.getQueryGradient()] = spaceOf(op.getQuery());
  setBiasGradients(op, backward);
  return sink ? addColumns(op, resultOf(backward, kernel::GradientOf::sink),
                           op.getSinkAttr())
              : success();
}

LogicalResult Converter::convertConstantGradient(ConstantGradientOp op) {
  Value to = gradientOf(op, op.getValueAttr());
  if (!to)
    return failure();
  SmallVector<int64_t> numbers(cast<ShapedType>(to.getType()).getDimSize(0));
  std::iota(numbers.begin(), numbers.end(), 0);
  kernel::EmbedGradientOp::create(
      body, op.getLoc(), to.getType(), valueOf(op.getGradient()),
      tokenNumbers(op.getLoc(), head.getDenseI64ArrayAttr(numbers)), to);
  return success();
}

LogicalResult Converter::convertPoolGradient(PoolGradientOp op) {
  Location location = op.getLoc();
  Space space = spaceOf(op.getLike());
  spaces[op.getResult()] = space;
  Value tokens = tokensOf(space), index, mask;
  auto optional = [&](Value given) { return given ? valueOf(given) : Value(); };
  if (op.getKind() == Pool::mean)
    mask = optional(op.getKeyMask());
  else
    index = poolIndex(location,
                      op.getKind() == Pool::last ? optional(op.getKeyMask())
                                                 : optional(op.getIds()),
                      tokens, op.getKind(), op.getSkip(), op.getId());
  Value to = destinationOf(op.getResult());
  values[op.getResult()] =
      kernel::PoolGradientOp::create(body, location, to.getType(),
                                     valueOf(op.getGradient()), index, mask,
                                     tokens, index ? 0 : op.getSkip(), to)
          .getResult();
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

// Numbers of a row are apart: each has a loss.
template <typename Op>
LogicalResult Converter::addNumberLoss(Op op, Scalar loss, Scalar slope) {
  Location location = op.getLoc();
  if (failed(sameRows(op, {op.getValues(), op.getLabels()})))
    return failure();
  RowsParts spec;
  spec.inputs = {valueOf(op.getValues()), valueOf(op.getLabels()),
                 valueOf(op.getWeight())};
  Value rows = rowsOf(op.getValues());
  const int64_t columns = channelsOf(op.getValues());
  auto weighted = [&](Scalar scalar) {
    return makeRows(
        body, location, spec, rows, columns,
        [&](OpBuilder &builder, Location at, ValueRange x) -> Value {
          Value number = scalar(builder, at, x.take_front(2));
          return arith::MulFOp::create(builder, at, number, x[2]);
        });
  };
  values[op.getLosses()] = weighted(loss);
  values[op.getGradient()] = weighted(slope);
  spaces[op.getLosses()] = spaceOf(op.getValues());
  return success();
}

LogicalResult Converter::convertNumberLoss(SquaredErrorOp op) {
  auto difference = [](OpBuilder &builder, Location at, ValueRange x) {
    return arith::SubFOp::create(builder, at, x[0], x[1]).getResult();
  };
  return addNumberLoss(
      op,
      [&](OpBuilder &builder, Location at, ValueRange x) -> Value {
        Value error = difference(builder, at, x);
        return arith::MulFOp::create(builder, at, error, error);
      },
      [&](OpBuilder &builder, Location at, ValueRange x) -> Value {
        Value error = difference(builder, at, x);
        return arith::AddFOp::create(builder, at, error, error);
      });
}

// With y the label: softplus(x) - y x, and its slope sigmoid(x) - y.
LogicalResult Converter::convertNumberLoss(BinaryCrossEntropyOp op) {
  return addNumberLoss(
      op,
      [](OpBuilder &builder, Location at, ValueRange x) -> Value {
        Value both = applyActivation(builder, at, Activation::softplus, x[0]);
        Value yes = arith::MulFOp::create(builder, at, x[1], x[0]);
        return arith::SubFOp::create(builder, at, both, yes);
      },
      [](OpBuilder &builder, Location at, ValueRange x) -> Value {
        Value share = applyActivation(builder, at, Activation::sigmoid, x[0]);
        return arith::SubFOp::create(builder, at, share, x[1]);
      });
}

void Converter::saveAs(Value original, Value value, StringRef name) {
  if (layer)
    kernel::SaveOp::create(body, original.getLoc(), value,
                           body.getStringAttr(name));
  savedValues[name] = layer ? original : value;
}

LogicalResult Converter::convertSave(SaveOp op) {
  saveAs(op.getValue(), valueOf(op.getValue()), op.getName());
  return success();
}

LogicalResult Converter::convertSave(SavedOp op) {
  if (!layer) {
    values[op.getResult()] = savedValues.lookup(op.getName());
    return success();
  }
  Space space = spaceOf(savedValues.lookup(op.getName()));
  if (space.route)
    space.route = repeatedRoute(*op->getBlock(), space.route);
  spaces[op.getResult()] = space;
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

Value Converter::zeroRows(Location location, Value like, int64_t channels) {
  Attribute zero =
      NumbersAttr::get(head.getContext(), head.getDenseF64ArrayAttr({0.0}),
                       RankedTensorType::get({1}, head.getF32Type()));
  RowsParts spec;
  spec.inputs.push_back(weight(location, zero));
  return makeRows(body, location, spec, rowsOf(like), channels,
                  [](OpBuilder &, Location, ValueRange x) { return x[0]; });
}

LogicalResult Converter::convertDropout(DropoutOp op) {
  Value to = destinationOf(op.getResult());
  values[op.getResult()] =
      kernel::DropoutOp::create(
          body, op.getLoc(), to.getType(), valueOf(op.getInput()),
          valueOf(op.getStep()), valueOf(op.getFirst()),
          tokensOf(spaceOf(op.getInput())), op.getRateAttr(), op.getSeedAttr(),
          op.getSiteAttr(), op.getAfterAttr(), to)
          .getResult();
  return success();
}

LogicalResult Converter::convertCollect(CollectOp op) {
  Value &sum = collected[op.getName()];
  if (!sum) { // outside of layers, the first
    sum = valueOf(op.getValue());
    return success();
  }
  RowsParts spec;
  spec.inputs = {sum, valueOf(op.getValue())};
  sum = makeRows(body, op.getLoc(), spec, rowsOf(op.getValue()),
                 channelsOf(op.getValue()),
                 [](OpBuilder &builder, Location at, ValueRange x) -> Value {
                   return arith::AddFOp::create(builder, at, x[0], x[1]);
                 });
  return success();
}

LogicalResult Converter::convertCollect(CollectedOp op) {
  values[op.getResult()] = collected.lookup(op.getName());
  spaces[op.getResult()] = spaceOf(op.getLike());
  return success();
}
