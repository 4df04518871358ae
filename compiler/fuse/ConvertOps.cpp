// Single ops from `transformer` to `kernel`: embed, linear, attend, pool.
// Must not fuse; what attention alone can do (rotate, slopes) goes into it.
#include "compiler/fuse/Activations.h"
#include "compiler/fuse/Converter.h"

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

LogicalResult Converter::convertElementwise(Operation *op, Scalar scalar) {
  RowsSpec spec;
  for (Value operand : op->getOperands())
    spec.inputs.push_back(valueOf(operand));
  Value result = op->getResult(0);
  values[result] = makeRows(body, op->getLoc(), spec, rowsOf(result),
                            channelsOf(result), scalar);
  return success();
}

// scale * table_0[ids_0] + table_1[ids_1 + offset_1] + ...: an offset is a slice
// of the table, since ids + offset name its rows from offset on.
LogicalResult Converter::convertEmbed(EmbedOp op) {
  RowsSpec spec;
  for (auto [i, table] : llvm::enumerate(op.getTables())) {
    Attribute value = table;
    if (int64_t offset = op.getOffsets()[i]) {
      auto parameter = symbols.lookup<ParameterOp>(
          cast<FlatSymbolRefAttr>(table).getAttr());
      int64_t entries =
          cast<ShapedType>(parameter.getType()).getShape().front();
      if (offset < 0 || offset >= entries)
        return op.emitOpError("has offset ")
               << offset << " but table " << table << " has " << entries
               << " entries";
      value = SliceAttr::get(op.getContext(), table, 0, offset,
                             entries - offset, 1);
    }
    Value operand = weight(op.getLoc(), value);
    if (!operand)
      return failure();
    spec.inputs.push_back(operand);
    spec.indices.push_back(valueOf(op.getIds()[i]));
    spec.gather.push_back(i);
  }
  double scale = op.getScale().convertToDouble();
  values[op.getResult()] = makeRows(
      body, op.getLoc(), spec, rowsOf(op.getResult()),
      channelsOf(op.getResult()),
      [&](OpBuilder &builder, Location location, ValueRange x) {
        Value sum = x[0];
        if (scale != 1)
          sum = arith::MulFOp::create(builder, location,
                                      constant(builder, location, scale), sum);
        for (Value next : x.drop_front())
          sum = arith::AddFOp::create(builder, location, sum, next);
        return sum;
      });
  return success();
}

LogicalResult Converter::convertLinear(LinearOp op) {
  Value matrix = weight(op.getLoc(), op.getWeightAttr());
  if (!matrix)
    return failure();
  Value rows = rowsOf(op.getResult());
  int64_t columns = channelsOf(op.getResult());
  Value product = makeMatmul(
      body, op.getLoc(), valueOf(op.getInput()), matrix, {}, 1,
      makeDestination(body, op.getLoc(), rows, columns),
      [](OpBuilder &, Location, ValueRange x) { return x[0]; });
  double scale = op.getScale().convertToDouble();
  if (scale != 1 || op.getBiasAttr()) {
    RowsSpec spec;
    spec.inputs.push_back(product);
    if (op.getBiasAttr()) {
      spec.inputs.push_back(weight(op.getLoc(), op.getBiasAttr()));
      if (!spec.inputs.back())
        return failure();
    }
    product = makeRows(
        body, op.getLoc(), spec, rows, columns,
        [&](OpBuilder &builder, Location location, ValueRange x) {
          Value sum = x[0];
          if (scale != 1)
            sum = arith::MulFOp::create(builder, location, sum,
                                        constant(builder, location, scale));
          if (x.size() == 2)
            sum = arith::AddFOp::create(builder, location, sum, x[1]);
          return sum;
        });
  }
  values[op.getResult()] = product;
  return success();
}

// A rotated value is what it was; the attention that reads it turns it.
LogicalResult Converter::convertRotate(RotateOp op) {
  for (Operation *user : op.getResult().getUsers()) {
    auto attend = dyn_cast<AttendOp>(user);
    if (!attend || attend.getValue() == op.getResult()) {
      auto error = op.emitOpError("feeds '")
                   << user->getName()
                   << "' but only an attention's query and key can be rotated";
      error.attachNote(user->getLoc()) << "the value is read here";
      return failure();
    }
  }
  values[op.getResult()] = valueOf(op.getInput());
  return success();
}

LogicalResult Converter::convertPositionBias(PositionBiasOp op) {
  for (Operation *user : op.getResult().getUsers())
    if (!isa<AttendOp>(user))
      return op.emitOpError("feeds '")
             << user->getName() << "' but only an attention can add it";
  return success();
}

namespace {

// Both or neither of query and key are rotated, alike and by whole heads.
LogicalResult checkRotation(AttendOp op, RotateOp query, RotateOp key) {
  if (!query && !key)
    return success();
  if (!query || !key)
    return op.emitOpError("has a rotated ")
           << (query ? "query" : "key") << " but its "
           << (query ? "key" : "query") << " is not rotated";
  auto differ = [&](StringRef what) {
    auto error = op.emitOpError("has a query and a key with different ") << what;
    error.attachNote(query.getLoc()) << "the query is rotated here";
    error.attachNote(key.getLoc()) << "the key is rotated here";
    return failure();
  };
  if (query.getPositions() != key.getPositions())
    return differ("positions");
  if (query.getFrequencies() != key.getFrequencies())
    return differ("frequencies");
  if (query.getPairing() != key.getPairing())
    return differ("pairings");
  if (query.getAttentionFactorAttr() != key.getAttentionFactorAttr())
    return differ("attention factors");
  for (RotateOp rotate : {query, key})
    if (rotate.getHeadDim() != op.getHeadDim())
      return op.emitOpError("has head_dim ")
             << op.getHeadDim() << " but the rotation of its "
             << (rotate == query ? "query" : "key") << " has "
             << rotate.getHeadDim();
  return success();
}

} // namespace

LogicalResult Converter::convertAttend(AttendOp op) {
  auto query = op.getQuery().getDefiningOp<RotateOp>();
  auto key = op.getKey().getDefiningOp<RotateOp>();
  if (failed(checkRotation(op, query, key)))
    return failure();
  Location location = op.getLoc();
  Value keyBias, rotation;
  if (Value mask = op.getKeyMask())
    keyBias = once({mask.getAsOpaquePointer()}, [&]() -> Value {
      Value to = makeDestination(head, location, allRows, 1);
      return kernel::KeyBiasOp::create(head, location, to.getType(),
                                       valueOf(mask), to)
          .getResult();
    });
  if (query)
    rotation = once(
        {query.getPositions().getAsOpaquePointer(),
         query.getFrequenciesAttr().getAsOpaquePointer(),
         query.getAttentionFactorAttr().getAsOpaquePointer()},
        [&]() -> Value {
          Value to = makeDestination(head, query.getLoc(), allRows,
                                     2 * query.getFrequencies()->size());
          return kernel::RotationOp::create(
                     head, query.getLoc(), to.getType(),
                     valueOf(query.getPositions()), query.getFrequenciesAttr(),
                     query.getAttentionFactorAttr(),
                     query.getLongContextAttr(), to)
              .getResult();
        });
  DenseF64ArrayAttr slopes;
  for (Value bias : op.getBiases()) {
    auto source = bias.getDefiningOp<PositionBiasOp>();
    if (!source)
      return op.emitOpError("has a bias that no kernel adds: only a "
                            "transformer.position_bias can be one");
    slopes = source.getSlopesAttr();
  }
  Value to = makeDestination(body, location, rowsOf(op.getResult()),
                             channelsOf(op.getResult()));
  auto pairing = query && query.getPairing() == Pairing::interleaved
                     ? kernel::Pairing::interleaved
                     : kernel::Pairing::half;
  auto attention = kernel::AttentionOp::create(
      body, location, to.getType(), valueOf(op.getQuery()), valueOf(op.getKey()),
      valueOf(op.getValue()), keyBias, Value(), rotation, Value(), Value(),
      Value(), Value(), Value(), Value(), Value(), Value(), tokens, tokens,
      zero, to,
      op.getHeadsAttr(), op.getKvHeadsAttr(), op.getHeadDimAttr(),
      op.getValueDimAttr(), body.getDenseI64ArrayAttr({0, 0, 0}),
      op.getScaleAttr(), body.getBoolAttr(op.getMask() == Mask::causal),
      op.getSoftcapAttr(),
      kernel::PairingAttr::get(op.getContext(), pairing), 
      body.getI64IntegerAttr(query ? query.getStart() : 0), slopes,
      op.getWindowAttr(), op.getChunkAttr(), kernel::BiasByAttr());
  values[op.getResult()] = attention.getResult();
  return success();
}

LogicalResult Converter::convertPool(PoolOp op) {
  Location location = op.getLoc();
  Value input = valueOf(op.getInput()), mask;
  if (op.getKeyMask())
    mask = valueOf(op.getKeyMask());
  int64_t columns = channelsOf(op.getResult());
  if (op.getKind() == Pool::mean) {
    Value to = makeDestination(body, location, batch, columns);
    values[op.getResult()] =
        kernel::PoolMeanOp::create(body, location, to.getType(), input, mask,
                                   tokens, op.getSkip(), to)
            .getResult();
    return success();
  }
  auto indexType =
      RankedTensorType::get({ShapedType::kDynamic}, body.getI32Type());
  Value to = tensor::EmptyOp::create(body, location, indexType, batch);
  bool last = op.getKind() == Pool::last;
  RowsSpec spec;
  spec.inputs.push_back(input);
  spec.indices.push_back(kernel::PoolIndexOp::create(body, location, indexType,
                                                     last ? mask : Value(),
                                                     tokens, last, op.getSkip(),
                                                     op.getId(), to)
                             .getResult());
  spec.gather.push_back(0);
  values[op.getResult()] =
      makeRows(body, location, spec, batch, columns,
               [](OpBuilder &, Location, ValueRange x) { return x[0]; });
  return success();
}
