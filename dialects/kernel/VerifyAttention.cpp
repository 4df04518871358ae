// Verifiers of attention and of rotations, one `// Cn` per labelled constraint.
#include "dialects/kernel/Access.h"
#include "dialects/kernel/Backward.h"
#include "dialects/kernel/HeldOnce.h"
#include "dialects/kernel/StateBytes.h"
#include "dialects/transformer/Symbols.h"

#include <cmath>

using namespace mlir;
using namespace mille::kernel;
using mille::transformer::formatDouble;

namespace {

// The elements of keys and of values: of f16 beside queries of it, or in
// panels, both.
template <typename Op> Elements heldElements(Op op) {
  if constexpr (std::is_same_v<Op, AttentionOp>)
    if (op.getPanels() && shapedOf(op.getKey()).getElementType().isF16())
      return Elements::f16;
  return shapedOf(op.getQuery()).getElementType().isF16() ? Elements::real
                                                          : Elements::f32OrBf16;
}

// Heads of `size` columns each, from column `offset`, lie within the buffer.
LogicalResult verifyColumns(Operation *op, StringRef name, Value buffer,
                            int64_t offset, int64_t heads, int64_t size,
                            Elements elements = Elements::real) {
  auto columns = columnsOf(op, name, buffer, elements);
  if (!columns)
    return failure();
  int64_t end;
  if (offset >= 0 && !__builtin_mul_overflow(heads, size, &end) &&
      !__builtin_add_overflow(end, offset, &end) && end <= *columns)
    return success();
  return op->emitOpError() << name << " has " << *columns << " columns but "
                           << heads << " heads of " << size
                           << " are read from column " << offset;
}

// Whether keys and values are a state's bytes, whose columns verifyPanels
// checks.
bool isOfBytes(Value held) {
  return shapedOf(held).getElementType().isSignlessInteger(8);
}
template <typename Op> bool readsBytes(Op op) {
  if constexpr (std::is_same_v<Op, AttentionOp>)
    return op.getPanels() && isOfBytes(op.getKey()) && isOfBytes(op.getValue());
  return false;
}

// Heads; query, key, value and out, at their offsets.
template <typename Op>
LogicalResult verifyBuffers(Op op, Value out, StringRef outName = "outs") {
  int64_t heads = op.getHeads(), kvHeads = op.getKvHeads();
  for (auto [name, size] : {std::pair<StringRef, int64_t>{"heads", heads},
                            {"kv_heads", kvHeads},
                            {"head_dim", op.getHeadDim()},
                            {"value_dim", op.getValueDim()}})
    if (failed(verifyPositive(op, name, size))) // C1
      return failure();
  if (heads % kvHeads) // C1
    return op.emitOpError() << "kv_heads is " << kvHeads
                            << " but must divide heads, which is " << heads;
  ArrayRef<int64_t> offsets = op.getOffsets();
  if (offsets.size() != 3) // C2
    return op.emitOpError() << "offsets has " << offsets.size()
                            << " entries but there are 3: query, key, value";
  if (failed(verifyColumns(op, "query", op.getQuery(), offsets[0], heads,
                           op.getHeadDim()))) // C2
    return failure();
  if (!readsBytes(op) &&
      (failed(verifyColumns(op, "key", op.getKey(), offsets[1], kvHeads,
                            op.getHeadDim(), heldElements(op))) || // C2, C14
       failed(verifyColumns(op, "value", op.getValue(), offsets[2], kvHeads,
                            op.getValueDim(), heldElements(op))))) // C2, C14
    return failure();
  auto columns = columnsOf(op, outName, out, Elements::real);
  if (!columns)
    return failure();
  int64_t wanted;
  if (__builtin_mul_overflow(heads, int64_t(op.getValueDim()), &wanted) ||
      wanted != *columns) // C2
    return op.emitOpError()
           << outName << " has " << *columns << " columns but heads is "
           << heads << " and value_dim is " << op.getValueDim();
  return success();
}

LogicalResult verifyWindow(Operation *op,
                           std::optional<ArrayRef<int64_t>> window) {
  if (!window ||
      (window->size() == 2 && (*window)[0] >= 0 && (*window)[1] >= 0))
    return success();
  return op->emitOpError("window must be two numbers >= 0, left and right");
}

LogicalResult verifyChunk(Operation *op, int64_t chunk) {
  if (chunk >= 0)
    return success();
  return op->emitOpError() << "chunk is " << chunk << " but must be >= 0";
}

template <typename Op> LogicalResult verifySlopes(Op op) {
  const int64_t heads = op.getHeads();
  auto slopes = op.getSlopes();
  if (!slopes || int64_t(slopes->size()) == heads)
    return success();
  return op.emitOpError() << "slopes has " << slopes->size()
                          << " entries but heads is " << heads;
}

// A table with a row for each head; by distance with 2D + 1 columns.
LogicalResult verifyBias(Operation *op, Value bias, int64_t heads,
                         bool byDistance) {
  auto columns = columnsOf(op, "bias", bias);
  if (!columns)
    return failure();
  if (shapeOf(bias)[0] != heads)
    return op->emitOpError()
           << "bias is " << bias.getType() << " but heads is " << heads;
  if (byDistance && *columns % 2 == 0)
    return op->emitOpError() << "bias by distance has " << *columns
                             << " columns but must have an odd number";
  return success();
}

// A number for each key and head, or for each key and some heads.
LogicalResult verifyKeyHeadBias(Operation *op, Value bias, int64_t heads) {
  if (!bias)
    return success();
  auto columns = columnsOf(op, "key_head_bias", bias);
  if (!columns)
    return failure();
  if (shapeOf(bias)[0] == ShapedType::kDynamic && heads % *columns == 0)
    return success();
  return op->emitOpError() << "key_head_bias is " << bias.getType()
                           << " but must be [?, n] where n divides " << heads
                           << " heads";
}

// Operands and lists with an entry per head, key or query.
LogicalResult verifyOptional(AttentionOp op) {
  constexpr int64_t any = ShapedType::kDynamic;
  int64_t heads = op.getHeads();
  if (failed(verifyOneOf(op, "query_scale", op.getQueryScale(),
                         {{any, 1}})) ||                           // C5
      failed(verifyKeyHeadBias(op, op.getKeyHeadBias(), heads)) || // C5
      failed(verifyOneOf(op, "sink", op.getSink(), {{heads}})) ||  // C8
      failed(verifyOneOf(op, "head_scale", op.getHeadScale(),      // C8
                         {{heads}, {1}})))
    return failure();
  if (failed(verifyIndices(op, "key_mask", op.getKeyMask())) ||  // C11
      failed(verifyIndices(op, "segments", op.getSegments())) || // C11
      failed(verifyIndices(op, "prefix", op.getPrefix())))       // C11
    return failure();
  if (failed(verifySlopes(op)) ||               // C4
      failed(verifyWindow(op, op.getWindow()))) // C9
    return failure();
  return verifyChunk(op, op.getChunk()); // C9
}

// Tables by distance have 2D + 1 columns for each head.
LogicalResult verifyBiases(AttentionOp op) {
  int64_t heads = op.getHeads();
  if (bool(op.getBias()) != bool(op.getBiasBy())) // C10
    return op.emitOpError("must have both bias and bias_by, or neither");
  if (op.getBias() &&
      failed(verifyBias(op, op.getBias(), heads,
                        *op.getBiasBy() == BiasBy::distance))) // C8
    return failure();
  for (auto [name, products] :
       {std::pair<StringRef, Value>{"content_query", op.getContentQuery()},
        {"content_key", op.getContentKey()}}) {
    if (!products)
      continue;
    auto columns = columnsOf(op, name, products); // C11
    if (!columns)
      return failure();
    if (*columns % heads || *columns / heads % 2 == 0) // C11
      return op.emitOpError()
             << name << " has " << *columns
             << " columns but must have an odd number for each of " << heads
             << " heads";
  }
  return success();
}

// The rotation's dimensions lie within a head, from `start` on.
LogicalResult verifyRotation(Operation *op, Value rotation, int64_t head,
                             int64_t start) {
  auto columns = columnsOf(op, "rotation", rotation);
  if (!columns)
    return failure();
  if (*columns % 2 == 0 && start >= 0 && *columns <= head - start)
    return success();
  auto error = op->emitOpError()
               << "rotation has " << *columns
               << " columns but must be even and at most head_dim, " << head;
  if (start)
    error << ", less start, " << start;
  return error;
}

// A buffer with exactly `heads` heads of `size` columns, or with others after
// them.
LogicalResult verifyExactly(Operation *op, StringRef name, Value buffer,
                            int64_t heads, int64_t size, bool orMore = false,
                            Elements elements = Elements::real) {
  auto columns = columnsOf(op, name, buffer, elements);
  if (!columns)
    return failure();
  int64_t wanted;
  if (!__builtin_mul_overflow(heads, size, &wanted) &&
      (orMore ? wanted <= *columns : wanted == *columns))
    return success();
  return op->emitOpError() << name << " has " << *columns
                           << " columns but heads is " << heads
                           << " and head_dim is " << size;
}

} // namespace

// Bytes of a state, with their steps.
static LogicalResult verifyBytes(AttentionOp op) {
  if (op.getHeadDim() % stateByteGroup)
    return op.emitOpError()
           << "keys in bytes have heads of " << op.getHeadDim()
           << " columns but must have a multiple of " << stateByteGroup;
  const int64_t heads = op.getKvHeads();
  for (auto [name, held, each] :
       {std::tuple<StringRef, Value, int64_t>{"key", op.getKey(),
                                              rowBytes(op.getHeadDim())},
        {"value", op.getValue(), rowBytes(op.getValueDim())}}) {
    auto columns = columnsOf(op, name, held, Elements::bytes);
    if (!columns)
      return failure();
    if (*columns != heads * each)
      return op.emitOpError()
             << name << " has " << *columns << " columns but " << heads
             << " heads have " << each << " bytes each";
  }
  return success();
}
static LogicalResult verifyWhole(AttentionOp op) {
  const int64_t heads = op.getKvHeads();
  if (failed(verifyExactly(op, "key", op.getKey(), heads, op.getHeadDim(),
                           false, heldElements(op))))
    return failure();
  if (valueIsKey(op)) // which lies as values do
    return success();
  return verifyExactly(op, "value", op.getValue(), heads, op.getValueDim(),
                       false, heldElements(op));
}

// A state that is read in panels must be written in panels, and read whole.
static LogicalResult verifyPanels(AttentionOp op) {
  if (!op.getPanels())
    return success();
  if (!op.getPast()) // C13
    return op.emitOpError("has panels but no past");
  if (op.getOffsets()[1] || op.getOffsets()[2]) // C13
    return op.emitOpError()
           << "has panels but offsets of key and value are "
           << op.getOffsets()[1] << " and " << op.getOffsets()[2];
  int64_t heads = op.getKvHeads();
  if (failed(readsBytes(op) ? verifyBytes(op)   // C14
                            : verifyWhole(op))) // C13
    return failure();
  for (auto [name, value, panels] :
       {std::tuple<StringRef, Value, StatePanels>{
            "key", op.getKey(),
            valueIsKey(op) ? StatePanels::values : StatePanels::keys},
        {"value", op.getValue(), StatePanels::values}})
    if (auto remember = value.getDefiningOp<RememberOp>(); // C13
        remember && (remember.getPanels() != panels ||
                     remember.getHeads() != uint64_t(heads)))
      return op.emitOpError()
             << "has panels but " << name << " is remembered otherwise";
  return success();
}

// Attention to a state knows positions from `past` only.
static LogicalResult verifyPast(AttentionOp op) {
  if (failed(verifyPanels(op)))
    return failure();
  if (!op.getPast())
    return success();
  for (auto [name, isWrong] :
       {std::pair<StringRef, bool>{"has a rotation", bool(op.getRotation())},
        {"has a prefix", bool(op.getPrefix())},
        {"has a content_query", bool(op.getContentQuery())},
        {"has a content_key", bool(op.getContentKey())}})
    if (isWrong) // C12
      return op.emitOpError() << "has past but " << name;
  const bool compares = op.getBias() || op.getSlopes() || op.getSegments() ||
                        op.getWindow() || op.getChunk();
  if (!op.getCausal() && compares) // C12
    return op.emitOpError("has past and sees all keys but has a bias, slopes, "
                          "segments, a window or a chunk");
  return success();
}

static LogicalResult verifyScale(Operation *op, double scale) {
  if (std::isfinite(scale))
    return success();
  return op->emitOpError() << "scale is " << formatDouble(scale)
                           << " but must be finite";
}

LogicalResult mille::kernel::verifyHeads(LinearRecurrenceOp op, Value out) {
  if (failed(verifyBuffers(op, out)))
    return failure();
  return verifyScale(op, op.getScale().convertToDouble());
}

LogicalResult mille::kernel::verifyHeads(AttentionBackwardOp op) {
  if (failed(verifyBuffers(op, op.getGradient(), "gradient")))
    return failure();
  return verifyScale(op, op.getScale().convertToDouble());
}

static LogicalResult verifySoftcap(Operation *op, double softcap) {
  if (std::isfinite(softcap) && softcap >= 0)
    return success();
  return op->emitOpError() << "softcap is " << formatDouble(softcap)
                           << " but must be finite and >= 0";
}

int64_t mille::kernel::tokensOfPairs(int64_t pairs) {
  const int64_t root = std::llround(std::sqrt(double(pairs)));
  return root * root == pairs ? root : 0;
}

SmallVector<BackwardPart> mille::kernel::partsOf(AttentionBackwardOp op) {
  const int64_t heads = op.getHeads(), kvHeads = op.getKvHeads();
  SmallVector<BackwardPart> parts{
      {GradientOf::key, int64_t(op.getHeadDim()), kvHeads},
      {GradientOf::value, int64_t(op.getValueDim()), kvHeads}};
  if (op.getKeyHeadGradient())
    parts.push_back(
        {GradientOf::key_head_bias, 1, shapeOf(op.getKeyHeadBias())[1]});
  if (op.getBias()) {
    const int64_t columns = shapeOf(op.getBias())[1];
    const bool byPair = op.getBiasBy() == BiasBy::pair;
    parts.push_back(
        {GradientOf::bias, byPair ? tokensOfPairs(columns) : columns, heads});
  }
  if (op.getSink())
    parts.push_back({GradientOf::sink, 1, heads});
  parts.push_back({GradientOf::query, int64_t(op.getHeadDim()), heads});
  return parts;
}

Value mille::kernel::resultOf(AttentionBackwardOp op, GradientOf of) {
  for (auto [result, part] : llvm::zip(op.getResults(), partsOf(op)))
    if (part.of == of)
      return result;
  return Value();
}

// Biases of a backward pass, and what is asked of them.
static LogicalResult verifyBiases(AttentionBackwardOp op) {
  const int64_t heads = op.getHeads();
  if (failed(verifyKeyHeadBias(op, op.getKeyHeadBias(), heads)) || // C5
      failed(verifyOneOf(op, "sink", op.getSink(), {{heads}})) ||  // C5
      failed(verifySlopes(op)))                                    // C5
    return failure();
  if (bool(op.getBias()) != bool(op.getBiasBy())) // C6
    return op.emitOpError("must have both bias and bias_by, or neither");
  if (op.getKeyHeadGradient() && !op.getKeyHeadBias()) // C6
    return op.emitOpError("has key_head_gradient but no key_head_bias");
  if (!op.getBias())
    return success();
  const bool byPair = *op.getBiasBy() == BiasBy::pair;
  if (failed(verifyBias(op, op.getBias(), heads, !byPair))) // C6
    return failure();
  const int64_t columns = shapeOf(op.getBias())[1];
  if (byPair && !tokensOfPairs(columns)) // C6
    return op.emitOpError() << "bias by pair has " << columns
                            << " columns but must have a square of the keys";
  return success();
}

static Type elementOf(Value buffer) {
  return shapedOf(buffer).getElementType();
}

LogicalResult AttentionBackwardOp::verify() {
  if (failed(verifyHeads(*this)) ||                              // C1, C2, C3
      failed(verifyIndices(*this, "key_mask", getKeyMask())) ||  // C3
      failed(verifyIndices(*this, "segments", getSegments())) || // C3
      failed(verifySoftcap(*this, getSoftcap().convertToDouble())) || // C3
      failed(verifyWindow(*this, getWindow())) ||                     // C3
      failed(verifyChunk(*this, getChunk())))                         // C3
    return failure();
  if (failed(verifyBiases(*this)))
    return failure();
  const SmallVector<BackwardPart> parts = partsOf(*this);
  if (getOuts().size() != parts.size()) // C2
    return emitOpError() << "has " << getOuts().size() << " outs but there are "
                         << parts.size()
                         << ": the gradients of key and value, of biases and "
                            "sink if there are these, and of query";
  for (auto [out, part] : llvm::zip(getOuts(), parts))
    if (failed(verifyOutColumns(*this, out, part.columns * part.heads))) // C2
      return failure();
  for (auto [name, buffer] : {std::pair<StringRef, Value>{"query", getQuery()},
                              {"key", getKey()},
                              {"value", getValue()},
                              {"gradient", getGradient()}}) {
    if (!columnsOf(*this, name, buffer, Elements::f32OrBf16)) // C2
      return failure();
    if (elementOf(buffer) != elementOf(getQuery())) // C2
      return emitOpError() << name << " has elements of " << elementOf(buffer)
                           << " but query of " << elementOf(getQuery());
  }
  return verifyResults(*this, getOuts(), getResults()); // C4
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyBuffers(*this, getOut())) || failed(verifyOptional(*this)) ||
      failed(verifyBiases(*this)) || failed(verifyPast(*this)))
    return failure();
  if (getRotation() && failed(verifyRotation(*this, getRotation(), getHeadDim(),
                                             getStart()))) // C3
    return failure();
  double scale = getScale().convertToDouble(),
         softcap = getSoftcap().convertToDouble();
  if (failed(verifyScale(*this, scale)) ||   // C6
      failed(verifySoftcap(*this, softcap))) // C6
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C7
}

LogicalResult LinearAttentionOp::verify() {
  if (failed(verifyBuffers(*this, getOut())) ||                 // C1, C2
      failed(verifyIndices(*this, "key_mask", getKeyMask())) || // C3
      failed(verifyOneOf(*this, "decay", getDecay(),
                         {{int64_t(getHeads())}}))) // C3
    return failure();
  if (failed(verifyScale(*this, getScale().convertToDouble()))) // C4
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C5
}

LogicalResult RotateOp::verify() {
  int64_t heads = getHeads(), head = getHeadDim();
  if (failed(verifyPositive(*this, "heads", heads)) ||   // C1
      failed(verifyPositive(*this, "head_dim", head)) || // C1
      failed(verifyExactly(*this, "input", getInput(), heads, head,
                           /*orMore=*/true)) ||                       // C1
      failed(verifyExactly(*this, "outs", getOut(), heads, head)) ||  // C1
      failed(verifyRotation(*this, getRotation(), head, getStart()))) // C2
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C3
}
