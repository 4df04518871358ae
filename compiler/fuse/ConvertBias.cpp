// Converts biases of attention's scores from `transformer` ops to operands of
// the kernel. Must not make a value of the scores' size.
#include "compiler/fuse/AttentionBiases.h"

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

// A bias is no kernel: the attention that reads it adds it.
LogicalResult Converter::convertBias(Operation *op) {
  for (Operation *user : op->getResult(0).getUsers())
    if (!isa<AttendOp, AttendGradientOp>(user)) {
      auto error = op->emitOpError("feeds '")
                   << user->getName() << "' but only an attention can add it";
      error.attachNote(user->getLoc()) << "the value is read here";
      return error;
    }
  return success();
}

namespace {

InFlightDiagnostic tooMany(Operation *op, StringRef what) {
  return op->emitOpError("has two biases ")
         << what << " but its kernel adds at most one";
}

bool isTable(Value bias) {
  return isa_and_present<DistanceBiasOp, PairBiasOp>(bias.getDefiningOp());
}

DenseF64ArrayAttr scaled(DenseF64ArrayAttr numbers, double factor) {
  SmallVector<double> all(numbers.asArrayRef());
  for (double &number : all)
    number *= factor;
  return DenseF64ArrayAttr::get(numbers.getContext(), all);
}

} // namespace

LogicalResult Converter::addSlopes(Operation *op, PositionBiasOp slopes,
                                   Biases &biases) {
  if (biases.slopes || biases.keyHeadBias)
    return tooMany(op, "by slopes");
  if (!slopes.getBfloat16()) {
    biases.slopes =
        scaled(slopes.getSlopesAttr(), slopes.getFactor().convertToDouble());
    return success();
  }
  Value positions = valueOf(slopes.getPositions());
  biases.keyHeadBias =
      once({positions.getAsOpaquePointer(),
            slopes.getSlopesAttr().getAsOpaquePointer(),
            slopes.getFactorAttr().getAsOpaquePointer(),
            slopes->getName().getAsOpaquePointer()},
           [&]() -> Value {
             Value to = makeDestination(head, slopes.getLoc(),
                                        rowsOf(slopes.getPositions()),
                                        slopes.getSlopes().size());
             return kernel::AlibiOp::create(head, slopes.getLoc(), to.getType(),
                                            positions, slopes.getSlopesAttr(),
                                            slopes.getFactorAttr(), to)
                 .getResult();
           });
  return success();
}

LogicalResult Converter::addKeyHeads(Operation *op, Value key,
                                     KeyHeadBiasOp bias, Biases &biases) {
  if (biases.slopes || biases.keyHeadBias)
    return tooMany(op, "by key and head");
  if (failed(sameRows(op, {key, bias.getInput()})))
    return failure();
  biases.keyHeadBias = valueOf(bias.getInput());
  return success();
}

LogicalResult Converter::addBias(AttendOp op, Value bias, Biases &biases) {
  if (auto slopes = bias.getDefiningOp<PositionBiasOp>())
    return addSlopes(op, slopes, biases);
  if (auto byKey = bias.getDefiningOp<KeyHeadBiasOp>())
    return addKeyHeads(op, op.getKey(), byKey, biases);
  if (isTable(bias) && isTrained())
    return addTrainedTable(op, bias, biases);
  if (auto distance = bias.getDefiningOp<DistanceBiasOp>())
    return addTable(op,
                    GatherAttr::get(op.getContext(), distance.getTableAttr(),
                                    distance.getBucketsAttr()),
                    kernel::BiasBy::distance, biases);
  if (auto pair = bias.getDefiningOp<PairBiasOp>())
    return addTable(op,
                    GatherAttr::get(op.getContext(), pair.getTableAttr(),
                                    pair.getIndexAttr()),
                    kernel::BiasBy::pair, biases);
  auto content = bias.getDefiningOp<ContentBiasOp>();
  if (!content)
    return op.emitOpError("has a bias that no kernel adds: only what "
                          "transformer ops of biases make can be one");
  Value &place = content.getOfKey() ? biases.contentKey : biases.contentQuery;
  if (place)
    return tooMany(op, content.getOfKey() ? "by the key's content"
                                          : "by the query's content");
  Value like = content.getOfKey() ? op.getKey() : op.getQuery();
  if (failed(sameRows(op, {like, content.getInput()})))
    return failure();
  place = contentOf(content);
  return success(bool(place));
}

// Adds a table to the kernel's bias: `rows` is [entries, heads], the bias
// [heads, entries]. Two tables of one kind become their sum.
LogicalResult Converter::addTable(AttendOp op, Attribute rows,
                                  kernel::BiasBy by, Biases &biases) {
  Attribute table = TransposeAttr::get(op.getContext(), rows);
  if (!biases.table) {
    biases.table = table;
    biases.by = by;
    return success();
  }
  if (biases.by != by)
    return tooMany(op, "by tables, one by distance and one by pair,");
  biases.table = PlusAttr::get(op.getContext(), biases.table, table);
  return success();
}

FailureOr<Value> Converter::tableOf(AttendOp op, const Biases &biases) {
  if (biases.trained)
    return trainedTableOf(biases);
  if (!biases.table)
    return Value();
  Value table = weight(op.getLoc(), biases.table);
  if (!table)
    return failure();
  return table;
}

//===-- tables that a step changes ----------------------------------------===//

LogicalResult Converter::addTrainedTable(Operation *op, Value bias,
                                         Biases &biases) {
  if (biases.trained)
    return tooMany(op, "by tables that are trained");
  biases.trained = bias.getDefiningOp();
  biases.by = isa<PairBiasOp>(biases.trained) ? kernel::BiasBy::pair
                                              : kernel::BiasBy::distance;
  return success();
}

LogicalResult Converter::addTrainedBias(AttendGradientOp op, Value bias,
                                        Biases &biases) {
  if (auto slopes = bias.getDefiningOp<PositionBiasOp>())
    return addSlopes(op, slopes, biases);
  if (auto byKey = bias.getDefiningOp<KeyHeadBiasOp>())
    return addKeyHeads(op, op.getKey(), byKey, biases);
  if (isTable(bias))
    return addTrainedTable(op, bias, biases);
  auto error = op.emitOpError("has a bias that no kernel trains yet");
  error.attachNote(bias.getLoc()) << "the bias is made here";
  return error;
}

// Number `from` of the weight becomes the next of a value of `shape`.
Value Converter::spread(Location location, Value weight, ArrayRef<int64_t> from,
                        ArrayRef<int64_t> shape) {
  OpBuilder &builder = layer && weight.getParentBlock() == layer ? body : head;
  DenseI64ArrayAttr numbers = head.getDenseI64ArrayAttr(from);
  return once({weight.getAsOpaquePointer(), numbers.getAsOpaquePointer()},
              [&]() -> Value {
                Value to = tensor::EmptyOp::create(
                    builder, location,
                    RankedTensorType::get(shape, head.getF32Type()),
                    ValueRange());
                return kernel::SpreadOp::create(builder, location, to.getType(),
                                                weight, numbers, to)
                    .getResult();
              });
}

// [heads, 2D + 1], or [heads, tokens * tokens], of a table [entries, heads].
FailureOr<Value> Converter::trainedTableOf(const Biases &biases) {
  if (!biases.trained)
    return Value();
  auto distance = dyn_cast<DistanceBiasOp>(biases.trained);
  auto pair = dyn_cast<PairBiasOp>(biases.trained);
  Location location = biases.trained->getLoc();
  ArrayRef<int64_t> rows = pair ? pair.getIndex() : distance.getBuckets();
  Value table =
      weight(location, pair ? pair.getTableAttr() : distance.getTableAttr());
  if (!table)
    return failure();
  const int64_t heads = cast<ShapedType>(table.getType()).getDimSize(1);
  SmallVector<int64_t> from;
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t row : rows)
      from.push_back(row * heads + h);
  return spread(location, table, from, {heads, int64_t(rows.size())});
}

LogicalResult Converter::convertBiasGradient(KeyHeadGradientOp op) {
  values[op.getResult()] = valueOf(op.getGradient()); // the kernel has added it
  return success();
}

LogicalResult Converter::convertBiasGradient(BiasGradientOp op) {
  auto buckets = op.getBuckets();
  if (!buckets) {
    Value to = gradientOf(op, op.getTableAttr());
    if (!to)
      return failure();
    kernel::PairSumsOp::create(body, op.getLoc(), to.getType(),
                               valueOf(op.getGradient()), op.getIndexAttr(),
                               to);
    return success();
  }
  const int64_t heads =
      cast<ShapedType>(op.getGradient().getType()).getDimSize(1);
  SmallVector<int64_t> to;
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t bucket : *buckets)
      to.push_back(bucket * heads + h);
  return addColumns(op, valueOf(op.getGradient()), op.getTableAttr(), to);
}

namespace {

// The block-diagonal matrix [heads * entries, heads * size], which makes one
// product of all heads': row h * entries + c is row c of the table's head h,
// and zero in all other heads.
Attribute blocksByHead(Attribute table, int64_t entries, int64_t heads,
                       int64_t size) {
  MLIRContext *context = table.getContext();
  auto numbers = [&](ArrayRef<int64_t> list) {
    return DenseI64ArrayAttr::get(context, list);
  };
  auto reshape = [&](Attribute value, ArrayRef<int64_t> shape) -> Attribute {
    return ReshapeAttr::get(context, value, numbers(shape));
  };
  auto permute = [&](Attribute value, ArrayRef<int64_t> order) -> Attribute {
    return PermuteAttr::get(context, value, numbers(order));
  };
  Attribute byHead =
      reshape(permute(reshape(table, {entries, heads, size}), {1, 0, 2}),
              {heads, entries * size});
  SmallVector<int64_t> diagonal(heads * heads, -1); // the others are zeros
  for (int64_t head = 0; head < heads; ++head)
    diagonal[head * heads + head] = head;
  Attribute blocks = GatherAttr::get(context, byHead, numbers(diagonal));
  return reshape(
      permute(reshape(blocks, {heads, heads, entries, size}), {0, 2, 1, 3}),
      {heads * entries, heads * size});
}

} // namespace

// [rows, heads * (2D + 1)]: each row's products with all entries of the table.
Value Converter::contentOf(ContentBiasOp op) {
  MLIRContext *context = op.getContext();
  int64_t entries = op.getBuckets().size(),
          channels = channelsOf(op.getInput());
  int64_t heads = cast<ShapedType>(op.getResult().getType()).getDimSize(1);
  Attribute value = blocksByHead(
      GatherAttr::get(context, op.getTableAttr(), op.getBucketsAttr()), entries,
      heads, channels / heads);
  if (op.getFactor().convertToDouble() != 1)
    value = TimesAttr::get(context, value, op.getFactorAttr());
  Value matrix = weight(op.getLoc(), value);
  if (!matrix)
    return {};
  return makeMatmul(body, op.getLoc(), valueOf(op.getInput()), matrix, Value(),
                    {}, 1,
                    makeDestination(body, op.getLoc(), rowsOf(op.getInput()),
                                    heads * entries),
                    [](OpBuilder &, Location, ValueRange x) { return x[0]; });
}
