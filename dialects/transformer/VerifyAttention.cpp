// Verifiers of rotation, of biases by position, and of attention and its
// gradient, one `// Cn` per labelled constraint.
#include "dialects/transformer/State.h"
#include "dialects/transformer/Symbols.h"
#include "dialects/transformer/VerifyShapes.h"

using namespace mlir;
using namespace mille::transformer;
using mille::extentText;
using mille::shapeText;

namespace {

LogicalResult verifyAllFinite(Operation *op, StringRef name,
                              ArrayRef<double> values) {
  for (auto [index, value] : llvm::enumerate(values))
    if (!std::isfinite(value))
      return op->emitOpError() << name << "[" << index << "] is "
                               << formatDouble(value) << " but must be finite";
  return success();
}

LogicalResult verifyPositive(Operation *op, StringRef name, int64_t size) {
  if (size > 0)
    return success();
  return op->emitOpError() << name << " is " << size << " but must be > 0";
}

// Checks that `value` has count * size channels, without overflow.
LogicalResult verifyHeads(Operation *op, StringRef value, int64_t channels,
                          StringRef countName, int64_t count,
                          StringRef sizeName, int64_t size) {
  int64_t product;
  if (!__builtin_mul_overflow(count, size, &product) && product == channels)
    return success();
  return op->emitOpError() << value << " has " << extentText(channels)
                           << " channels but " << countName << " is " << count
                           << " and " << sizeName << " is " << size;
}

} // namespace

namespace {

// Checks that a rotation of `dimensions` lies within a head, from `start` on.
LogicalResult verifyTurned(RotateOp op, const Twine &what, int64_t dimensions) {
  int64_t start = op.getStart(), head = op.getHeadDim();
  if (dimensions <= head - start)
    return success();
  auto error = op.emitOpError() << what << " turn " << dimensions
                                << " dimensions but head_dim is " << head;
  if (start)
    error << " and start " << start;
  return error;
}

LogicalResult verifyFrequencies(RotateOp op, ArrayRef<double> frequencies) {
  int64_t pairs = frequencies.size();
  if (pairs == 0) // C2
    return op.emitOpError("has no frequencies");
  if (failed(verifyTurned(op, "frequencies", 2 * pairs))) // C2
    return failure();
  auto longer = op.getLongContext();
  if (longer && !longer->getFrequencies() && pairs == 1) // C6
    return op.emitOpError("has a stretch in `long` but only 1 frequency");
  if (longer && longer->getFrequencies() &&
      longer->getFrequencies().size() != pairs) // C6
    return op.emitOpError()
           << "has " << pairs << " frequencies but "
           << longer->getFrequencies().size() << " for long runs";
  return verifyAllFinite(op, "frequencies", frequencies); // C4
}

// Cosines and sines that a value of `columns` columns holds.
LogicalResult verifyGiven(RotateOp op, int64_t columns) {
  if (ShapedType::isDynamic(columns) || columns < 2 || columns % 2) // C5
    return op.emitOpError()
           << "positions are f32 but have " << extentText(columns)
           << " columns, no even number from 2";
  double factor = op.getAttentionFactor().convertToDouble();
  if (factor != 1) // C5
    return op.emitOpError() << "attention_factor is " << formatDouble(factor)
                            << " but positions are cosines and sines";
  return verifyTurned(op, "columns of positions", columns); // C2
}

} // namespace

LogicalResult RotateOp::verify() {
  if (failed(verifyPositive(*this, "heads", getHeads())) ||
      failed(verifyPositive(*this, "head_dim", getHeadDim())) ||
      failed(verifyHeads(*this, "input", channelsOf(getInput()), "heads",
                         getHeads(), "head_dim", getHeadDim()))) // C1
    return failure();
  auto positions = cast<RankedTensorType>(getPositions().getType());
  const bool given = positions.getElementType().isF32();
  if (bool(getTableAttr()) + bool(getFrequencies()) + given != 1) // C5
    return emitOpError("must have either frequencies, a table or positions "
                       "that are f32");
  int64_t start = getStart(), head = getHeadDim();
  if (start < 0 || start >= head) // C2
    return emitOpError() << "start is " << start << " but must be in a head of "
                         << head;
  if (getLongContext() && !getFrequencies()) // C6
    return emitOpError("has `long` but no frequencies");
  if (getFrequencies() && failed(verifyFrequencies(*this, *getFrequencies())))
    return failure();
  if (given && failed(verifyGiven(*this, positions.getShape().back())))
    return failure();
  if (!agree(positions.getShape().drop_back(given),
             shapeOf(getInput()).drop_back())) // C3
    return mismatch(*this, "positions", shapeOf(getPositions()), "input",
                    shapeOf(getInput()));
  return verifyFinite(*this, "attention_factor", // C4
                      getAttentionFactor().convertToDouble());
}

LogicalResult RotateOp::verifySymbolUses(SymbolTableCollection &tables) {
  FlatSymbolRefAttr table = getTableAttr();
  if (failed(verifyShapeOf(*this, "table", table, {-1, -1}, tables))) // C5
    return failure();
  auto type = table ? dyn_cast_or_null<TypeAttr>(
                          resolveSymbol(*this, table, tables).meaning)
                    : TypeAttr();
  if (!type)
    return success(); // no table, or a fragment
  int64_t columns = cast<RankedTensorType>(type.getValue()).getDimSize(1);
  if (columns % 2) // C5
    return emitOpError() << "table " << table << " has " << columns
                         << " columns but must have an even number";
  return verifyTurned(*this, "rows of table @" + table.getValue(),
                      columns); // C2
}

LogicalResult PositionBiasOp::verify() {
  int64_t heads = getSlopes().size();
  ArrayRef<int64_t> shape = shapeOf(getResult());
  ArrayRef<int64_t> positions = shapeOf(getPositions());
  if (positions.size() != 2 || shape.size() != 4 || shape[1] != heads ||
      !agree({positions[0], positions[1], positions[1]},
             {shape[0], shape[2], shape[3]})) // C1
    return mismatch(*this, "positions", positions, "result", shape)
           << " with " << heads << " slopes";
  if (failed(
          verifyFinite(*this, "factor", getFactor().convertToDouble()))) // C2
    return failure();
  return verifyAllFinite(*this, "slopes", getSlopes()); // C2
}

namespace {

// The result of the forward op; a gradient has it as an operand.
template <typename Op> Value resultOf(Op op) { return op.getResult(); }
Value resultOf(AttendGradientOp op) { return op.getOutput(); }
Value pastOf(AttendOp op) { return op.getPast(); }
Value pastOf(AttendGradientOp) { return {}; }

// Checks heads and operands of attention with and without a softmax.
template <typename Op> LogicalResult verifyAttention(Op op) {
  int64_t heads = op.getHeads(), kvHeads = op.getKvHeads(),
          head = op.getHeadDim(), value = op.getValueDim();
  for (auto [name, size] : {std::pair<StringRef, int64_t>{"heads", heads},
                            {"kv_heads", kvHeads},
                            {"head_dim", head},
                            {"value_dim", value}})
    if (failed(verifyPositive(op, name, size))) // C1
      return failure();
  if (heads % kvHeads) // C1
    return op.emitOpError() << "kv_heads is " << kvHeads
                            << " but must divide heads, which is " << heads;
  for (auto [name, stream] :
       {std::pair<StringRef, Value>{"query", op.getQuery()},
        {"key", op.getKey()},
        {"value", op.getValue()},
        {"result", resultOf(op)}})
    if (shapeOf(stream).size() != 3) // C2
      return op.emitOpError() << name << " is " << shapeText(shapeOf(stream))
                              << " but must be [batch, tokens, channels]";
  const bool isKey = std::is_same_v<Op, AttendOp> && kvHeads == 1 &&
                     op.getValue() == op.getKey() && value < head;
  if (failed(verifyHeads(op, "query", channelsOf(op.getQuery()), "heads", heads,
                         "head_dim", head)) || // C2
      failed(verifyHeads(op, "key", channelsOf(op.getKey()), "kv_heads",
                         kvHeads, "head_dim", head)) || // C2
      (!isKey &&
       failed(verifyHeads(op, "value", channelsOf(op.getValue()), "kv_heads",
                          kvHeads, "value_dim", value))) || // C2
      failed(verifyHeads(op, "result", channelsOf(resultOf(op)), "heads", heads,
                         "value_dim", value))) // C2
    return failure();
  return verifyFinite(op, "scale", op.getScale().convertToDouble()); // C4
}

template <typename Op> LogicalResult verifyTokens(Op op) {
  ArrayRef<int64_t> query = shapeOf(op.getQuery()), key = shapeOf(op.getKey()),
                    value = shapeOf(op.getValue()),
                    result = shapeOf(resultOf(op));
  if (!agree(key.drop_back(), value.drop_back())) // C3
    return mismatch(op, "key", key, "value", value);
  if (!agree(query.drop_back(), result.drop_back()) ||
      !agree(query[0], key[0])) // C3
    return mismatch(op, "query", query, "result", result)
           << " and key is " << shapeText(key);
  if (Value mask = op.getKeyMask())
    if (!agree(shapeOf(mask), key.drop_back())) // C3
      return mismatch(op, "key_mask", shapeOf(mask), "key", key);
  for (auto [name, ids] :
       {std::pair<StringRef, Value>{"positions", op.getPositions()},
        {"segments", pastOf(op) ? Value() : op.getSegments()}})
    if (ids && !agree(shapeOf(ids), query.drop_back())) // C3
      return mismatch(op, name, shapeOf(ids), "query", query);
  if (Value segments = op.getSegments())
    if (!agree(shapeOf(segments), key.drop_back())) // C3
      return mismatch(op, "segments", shapeOf(segments), "key", key);
  if (Value prefix = op.getPrefix())
    if (!agree(shapeOf(prefix), query.take_front())) // C3
      return mismatch(op, "prefix", shapeOf(prefix), "query", query);
  int64_t sequences = op.getSequences();
  if (sequences < 1) // C7
    return op.emitOpError()
           << "sequences is " << sequences << " but must be > 0";
  for (auto [name, tokens] :
       {std::pair<StringRef, int64_t>{"query", query[1]}, {"key", key[1]}})
    if (!ShapedType::isDynamic(tokens) && tokens % sequences) // C7
      return op.emitOpError() << name << " has " << tokens
                              << " tokens but sequences is " << sequences;
  const int64_t each = op.getSequenceTokens();
  if (each && (each < 0 || sequences != 1 || !ShapedType::isDynamic(query[1]) ||
               !ShapedType::isDynamic(key[1]))) // C7
    return op.emitOpError() << "sequence_tokens is " << each
                            << " but must be > 0, of run-time tokens, with "
                               "sequences 1";
  auto perSequence = [&](int64_t tokens) {
    return each                            ? each
           : ShapedType::isDynamic(tokens) ? tokens
                                           : tokens / sequences;
  };
  int64_t rows = pastOf(op) ? key[1] : query[1]; // of a bias
  for (Value bias : op.getBiases())
    if (!agree(shapeOf(bias), {query[0], int64_t(op.getHeads()),
                               perSequence(rows), perSequence(key[1])})) // C5
      return mismatch(op, "bias", shapeOf(bias), "query", query)
             << " with " << op.getHeads() << " heads";
  return success();
}

} // namespace

static LogicalResult verifyPastOf(AttendOp op) {
  if (!op.getPast())
    return success();
  if (op.getPrefix() || op.getSequences() != 1 || op.getSequenceTokens()) // C11
    return op.emitOpError("has past but is not over one sequence without a "
                          "prefix");
  const bool compares = !op.getBiases().empty() || op.getSegments() ||
                        op.getWindow() || op.getChunk();
  if (op.getMask() != Mask::causal && compares) // C12
    return op.emitOpError("has past and sees all keys but has biases, "
                          "segments, a window or a chunk");
  return verifyPast(op, op.getPast(), shapeOf(op.getQuery())[0]); // C11
}

namespace {

template <typename Op> LogicalResult verifyScores(Op op) {
  double softcap = op.getSoftcap().convertToDouble();
  if (!std::isfinite(softcap) || softcap < 0) // C4
    return op.emitOpError() << "softcap is " << formatDouble(softcap)
                            << " but must be finite and >= 0";
  if (auto window = op.getWindow();
      window &&
      (window->size() != 2 || (*window)[0] < 0 || (*window)[1] < 0)) // C6
    return op.emitOpError("window must be two numbers >= 0, left and right");
  if (int64_t(op.getChunk()) < 0) // C6
    return op.emitOpError()
           << "chunk is " << int64_t(op.getChunk()) << " but must be >= 0";
  if (auto length = op.getLengthScale();
      length && length->getKind() == LengthKind::log_floor &&
      !op.getPositions()) // C9
    return op.emitOpError("has a log_floor length_scale but no positions");
  return success();
}

template <typename Op>
LogicalResult verifyScaleSymbols(Op op, SymbolTableCollection &tables) {
  int64_t heads = op.getHeads();
  if (failed(
          verifyShapeOf(op, "sink", op.getSinkAttr(), {heads}, tables)) || // C8
      failed(verifyShapeOf(op, "head_scale", op.getHeadScaleAttr(),
                           {heads}, // C8
                           tables)))
    return failure();
  FlatSymbolRefAttr column = op.getLayerScaleAttr();
  if (!column)
    return success();
  Symbol scale = resolveSymbol(op, column, tables);
  if (scale.open || isa_and_nonnull<FloatAttr>(scale.meaning)) // C10
    return success();
  return op.emitOpError() << "layer_scale names " << column
                          << ", which is not a number of the layer table";
}

} // namespace

LogicalResult AttendOp::verify() {
  if (failed(verifyAttention(*this)) || failed(verifyTokens(*this)) ||
      failed(verifyPastOf(*this)))
    return failure();
  return verifyScores(*this);
}

LogicalResult AttendOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyScaleSymbols(*this, tables);
}

LogicalResult AttendGradientOp::verify() {
  if (failed(verifyAttention(*this)) || failed(verifyTokens(*this)) ||
      failed(verifyScores(*this))) // C1
    return failure();
  ArrayRef<int64_t> wanted = getBiasGradients().value_or(ArrayRef<int64_t>());
  if (wanted.size() != getToBiases().size()) // C2
    return emitOpError() << "has " << getToBiases().size()
                         << " results for biases but bias_gradients has "
                         << wanted.size() << " numbers";
  int64_t last = -1;
  for (auto [number, result] : llvm::zip_equal(wanted, getToBiases())) {
    if (number <= last || number >= int64_t(getBiases().size())) // C2
      return emitOpError() << "bias_gradients has " << number << " after "
                           << last << " but there are " << getBiases().size()
                           << " biases";
    last = number;
    if (result.getType() != getBiases()[number].getType()) // C2
      return mismatch(*this, "result for a bias", shapeOf(result), "bias",
                      shapeOf(getBiases()[number]));
  }
  return success();
}

LogicalResult
AttendGradientOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyScaleSymbols(*this, tables); // C1
}

LogicalResult LinearAttendOp::verify() {
  if (failed(verifyAttention(*this)))
    return failure();
  ArrayRef<int64_t> tokens = shapeOf(getQuery()).drop_back();
  for (auto [name, value] : {std::pair<StringRef, Value>{"key", getKey()},
                             {"value", getValue()},
                             {"result", getResult()}})
    if (!agree(shapeOf(value).drop_back(), tokens)) // C3
      return mismatch(*this, name, shapeOf(value), "query",
                      shapeOf(getQuery()));
  if (Value mask = getKeyMask())
    if (!agree(shapeOf(mask), tokens)) // C3
      return mismatch(*this, "key_mask", shapeOf(mask), "query",
                      shapeOf(getQuery()));
  return verifyState(*this); // C6
}

LogicalResult LinearAttendOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyShapeOf(*this, "decay", getDecayAttr(), {int64_t(getHeads())},
                       tables); // C5
}
