// Converts attention and rotation from `transformer` to `kernel`.
// Must not fuse, except a rotation that attention's prologue can do.
#include "compiler/fuse/AttentionBiases.h"
#include "compiler/fuse/Converter.h"
#include "dialects/transformer/Grid.h"

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

namespace {

// Whether both rotate the attention's heads, in the same way.
bool turnAlike(AttendOp op, RotateOp query, RotateOp key) {
  return query && key && query.getPositions() == key.getPositions() &&
         query.getFrequenciesAttr() == key.getFrequenciesAttr() &&
         query.getTableAttr() == key.getTableAttr() &&
         query.getLongContextAttr() == key.getLongContextAttr() &&
         query.getPairing() == key.getPairing() &&
         query.getStart() == key.getStart() &&
         query.getAttentionFactorAttr() == key.getAttentionFactorAttr() &&
         query.getHeadDim() == op.getHeadDim() &&
         key.getHeadDim() == op.getHeadDim();
}

} // namespace

// Finds the rotations that go into a prologue: every reader is an attention
// that rotates its query and its key in the same way, both by such rotations.
// Measured (benchmarks/kernels, 32 heads of 128, one Zen 5 core): the prologue
// takes 0.53 ms of 13.1 at 512 tokens and 6.5 us of 249 at one token; a
// kernel.rotate takes 0.88 ms and 6.7 us, and a launch. At 128 tokens it is
// 0.11 ms of 1.27 against 0.08.
void Converter::findPrologues() {
  function.walk([&](RotateOp op) { prologues.insert(op); });
  auto fits = [&](RotateOp op) {
    return llvm::all_of(op.getResult().getUsers(), [&](Operation *user) {
      auto attend = dyn_cast<AttendOp>(user);
      if (!attend || attend.getValue() == op.getResult())
        return false;
      auto query = attend.getQuery().getDefiningOp<RotateOp>();
      auto key = attend.getKey().getDefiningOp<RotateOp>();
      return turnAlike(attend, query, key) && prologues.contains(query) &&
             prologues.contains(key);
    });
  };
  for (bool changed = true; changed;) {
    changed = false;
    function.walk([&](RotateOp op) {
      if (prologues.contains(op) && !fits(op))
        changed = prologues.erase(op);
    });
  }
}

// The rotation of `op`, [rows, 2n]: computed once, unless its table belongs to
// a layer.
Value Converter::rotationOf(RotateOp op) {
  Value positions = valueOf(op.getPositions());
  if (!cast<ShapedType>(positions.getType()).getElementType().isInteger())
    return positions; // cosines and sines
  const void *key[] = {positions.getAsOpaquePointer(),
                       op.getFrequenciesAttr().getAsOpaquePointer(),
                       op.getLongContextAttr().getAsOpaquePointer(),
                       op.getAttentionFactorAttr().getAsOpaquePointer(),
                       nullptr};
  if (!op.getTableAttr())
    return once(key, [&]() -> Value {
      Value to = makeDestination(head, op.getLoc(), rowsOf(op.getPositions()),
                                 2 * op.getFrequencies()->size());
      return kernel::RotationOp::create(head, op.getLoc(), to.getType(),
                                        positions, op.getFrequenciesAttr(),
                                        op.getAttentionFactorAttr(),
                                        op.getLongContextAttr(), to)
          .getResult();
    });
  Attribute value = op.getTableAttr();
  if (op.getAttentionFactor().convertToDouble() != 1)
    value = TimesAttr::get(op.getContext(), value, op.getAttentionFactorAttr());
  Value table = weight(op.getLoc(), value);
  if (!table)
    return {};
  key[4] = table.getAsOpaquePointer();
  return once(key, [&]() -> Value {
    RowsParts spec;
    spec.inputs.push_back(table);
    spec.indices.push_back(positions);
    spec.gather.push_back(0);
    bool isLayers = layer && table.getParentBlock() == layer;
    return makeRows(isLayers ? body : head, op.getLoc(), spec,
                    rowsOf(op.getPositions()),
                    cast<ShapedType>(table.getType()).getDimSize(1),
                    [](OpBuilder &, Location, ValueRange x) { return x[0]; });
  });
}

LogicalResult Converter::convertRotate(RotateOp op) {
  if (prologues.contains(op)) { // unchanged: its attention rotates it
    values[op.getResult()] = valueOf(op.getInput());
    return success();
  }
  if (failed(sameRows(op, op->getOperands())))
    return failure();
  Value rotation = rotationOf(op);
  if (!rotation)
    return failure();
  Value to = destinationOf(op.getResult());
  values[op.getResult()] =
      kernel::RotateOp::create(body, op.getLoc(), to.getType(),
                               valueOf(op.getInput()), rotation, to,
                               op.getHeadsAttr(), op.getHeadDimAttr(),
                               op.getPairingAttr(), op.getStartAttr())
          .getResult();
  return success();
}

// The factor of scores that is a parameter or a number of the layer table.
FailureOr<Value> Converter::headScaleOf(AttendOp op) {
  Attribute heads = op.getHeadScaleAttr(), layers = op.getLayerScaleAttr();
  Attribute value = heads ? heads : layers;
  if (!value)
    return Value();
  if (heads && layers)
    value = TimesAttr::get(op.getContext(), heads, layers);
  Value scale = weight(op.getLoc(), value);
  if (!scale)
    return failure();
  return scale;
}

static Value pastOf(AttendOp op) { return op.getPast(); }
static Value pastOf(AttendGradientOp) { return {}; } // a step has no state

template <typename Op>
FailureOr<Value> Converter::queryScaleOf(Op op, Value queries) {
  LengthScaleAttr scale = op.getLengthScaleAttr();
  if (!scale)
    return Value();
  bool countsKeys = scale.getKind() == LengthKind::log_keys;
  if (countsKeys) {
    for (auto [name, isThere] :
         {std::pair<StringRef, bool>{"a chunk", op.getChunk() != 0},
          {"segments", bool(op.getSegments())},
          {"a prefix", bool(op.getPrefix())}})
      if (isThere)
        return op.emitOpError("scales by the keys that a query sees and has ")
               << name << ", but no kernel counts those";
    if (!pastOf(op) && failed(sameRows(op, {op.getQuery(), op.getKey()})))
      return failure();
  }
  auto optional = [&](Value given, bool isRead) {
    return given && isRead ? valueOf(given) : Value();
  };
  Value positions = optional(op.getPositions(),
                             scale.getKind() == LengthKind::log_floor),
        mask = optional(op.getKeyMask(), countsKeys),
        past = optional(pastOf(op), true);
  // With a past, queries are counted over the sequence, not over the run.
  if (past)
    queries = tokensOf(spaceOf(op.getKey()));
  bool causal = op.getMask() == Mask::causal && countsKeys;
  DenseI64ArrayAttr window =
      countsKeys ? op.getWindowAttr() : DenseI64ArrayAttr();
  return once(
      {scale.getAsOpaquePointer(), positions.getAsOpaquePointer(),
       mask.getAsOpaquePointer(), window.getAsOpaquePointer(),
       queries.getAsOpaquePointer(), causal ? this : nullptr},
      [&]() -> Value {
        Value to = makeDestination(head, op.getLoc(), rowsOf(op.getQuery()), 1);
        return kernel::QueryScaleOp::create(
                   head, op.getLoc(), to.getType(), positions, mask, past,
                   queries, scale, head.getBoolAttr(causal), window, to)
            .getResult();
      });
}

template FailureOr<Value> Converter::queryScaleOf(AttendGradientOp op,
                                                  Value queries);

// Whether tokens of this name are those of windows of `each` tokens.
static bool haveWhole(func::FuncOp function, StringRef tokens, int64_t each) {
  for (BlockArgument argument : function.getArguments())
    if (auto grid = gridOf(argument))
      for (PartAttr part : grid.getParts())
        if (part.getTokens() == tokens)
          return part.getEach() % each == 0;
  return false;
}

// The number of tokens of `value` in one sequence of `op`.
template <typename Op>
FailureOr<Value> Converter::tokensOfSequence(Op op, Value value) {
  Space space = spaceOf(value);
  if (int64_t each = op.getSequenceTokens()) {
    space.size = "";
    space.count = each;
    if (op.getPrefix())
      return op.emitOpError("has sequences of ")
             << each << " tokens and a prefix, which is one's";
    if (!haveWhole(function, spaceOf(value).size, each))
      return op.emitOpError("has sequences of ")
             << each << " tokens but " << spaceOf(value).text()
             << " rows are no whole number of them";
    return tokensOf(space);
  }
  if (op.getSequences() == 1)
    return tokensOf(space);
  if (!space.count)
    return op.emitOpError("has ")
           << op.getSequences() << " sequences of " << space.text()
           << " rows but only fixed tokens are split";
  if (op.getPrefix())
    return op.emitOpError("has ")
           << op.getSequences() << " sequences and a prefix, which is one's";
  space.count /= op.getSequences();
  return tokensOf(space);
}

template FailureOr<Value> Converter::tokensOfSequence(AttendGradientOp op,
                                                      Value value);

LogicalResult Converter::convertAttend(AttendOp op) {
  Location location = op.getLoc();
  if (failed(sameRows(op, {op.getKey(), op.getValue()})))
    return failure();
  auto optional = [&](Value given) { return given ? valueOf(given) : Value(); };
  auto query = op.getQuery().getDefiningOp<RotateOp>();
  if (!prologues.contains(query))
    query = {};
  Value rotation = query ? rotationOf(query) : Value(), sink;
  if (op.getSinkAttr())
    sink = weight(location, op.getSinkAttr());
  auto queries = tokensOfSequence(op, op.getQuery());
  auto keys = tokensOfSequence(op, op.getKey());
  auto headScale = headScaleOf(op);
  Biases biases;
  for (Value bias : op.getBiases())
    if (failed(addBias(op, bias, biases)))
      return failure();
  if (bool(query) != bool(rotation) || bool(op.getSinkAttr()) != bool(sink) ||
      failed(queries) || failed(keys) || failed(headScale))
    return failure();
  auto queryScale = queryScaleOf(op, *queries);
  auto table = tableOf(op, biases);
  if (failed(queryScale) || failed(table))
    return failure();
  Value to = destinationOf(op.getResult());
  auto attention = kernel::AttentionOp::create(
      body, location, to.getType(), valueOf(op.getQuery()),
      valueOf(op.getKey()), valueOf(op.getValue()), optional(op.getKeyMask()),
      biases.keyHeadBias, rotation, *queryScale, *headScale, sink, *table,
      biases.contentQuery, biases.contentKey, optional(op.getSegments()),
      optional(op.getPrefix()), optional(op.getPast()), *queries, *keys, zero,
      to, op.getHeadsAttr(), op.getKvHeadsAttr(), op.getHeadDimAttr(),
      op.getValueDimAttr(), body.getDenseI64ArrayAttr({0, 0, 0}),
      op.getScaleAttr(), body.getBoolAttr(op.getMask() == Mask::causal),
      op.getSoftcapAttr(),
      PairingAttr::get(op.getContext(),
                       query ? query.getPairing() : Pairing::half),
      body.getI64IntegerAttr(query ? query.getStart() : 0), biases.slopes,
      op.getWindowAttr(), op.getChunkAttr(),
      *table ? kernel::BiasByAttr::get(op.getContext(), biases.by)
             : kernel::BiasByAttr());
  values[op.getResult()] = attention.getResult();
  return success();
}

LogicalResult Converter::convertLinearAttend(LinearAttendOp op) {
  if (failed(sameRows(op, {op.getQuery(), op.getKey(), op.getValue()})))
    return failure();
  Value decay = weight(op.getLoc(), op.getDecayAttr());
  if (!decay)
    return failure();
  if (op.getState())
    return convertRecurrence(op, decay);
  Value to = destinationOf(op.getResult());
  values[op.getResult()] =
      kernel::LinearAttentionOp::create(
          body, op.getLoc(), to.getType(), valueOf(op.getQuery()),
          valueOf(op.getKey()), valueOf(op.getValue()),
          op.getKeyMask() ? valueOf(op.getKeyMask()) : Value(), decay,
          tokensOf(spaceOf(op.getQuery())), to, op.getHeadsAttr(),
          op.getKvHeadsAttr(), op.getHeadDimAttr(), op.getValueDimAttr(),
          body.getDenseI64ArrayAttr({0, 0, 0}), op.getScaleAttr())
          .getResult();
  return success();
}
