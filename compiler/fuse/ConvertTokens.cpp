// Converts ops that make, move and pool tokens from `transformer` to `kernel`.
// Must not fuse.
#include "compiler/fuse/Converter.h"

#include <numeric>

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

LogicalResult Converter::convertGatherTokens(GatherTokensOp op) {
  const Space from = spaceOf(op.getInput());
  assert(from.count && "the verifier admits fixed tokens only");
  Value to = destinationOf(op.getResult());
  values[op.getResult()] =
      kernel::GatherTokensOp::create(
          body, op.getLoc(), to.getType(), valueOf(op.getInput()),
          op.getIndexAttr(), op.getGroupAttr(),
          body.getI64IntegerAttr(from.count), to, op.getPartsAttr())
          .getResult();
  return success();
}

Value Converter::tokenNumbers(Location location, DenseI64ArrayAttr numbers) {
  return once({numbers.getAsOpaquePointer()}, [&]() -> Value {
    Space space;
    space.count = numbers.size();
    Value to = makeIndices(head, location, rowsOf(space));
    return kernel::TokenNumbersOp::create(head, location, to.getType(), numbers,
                                          to)
        .getResult();
  });
}

LogicalResult Converter::convertTokenNumbers(TokenNumbersOp op) {
  values[op.getResult()] = tokenNumbers(op.getLoc(), op.getNumbersAttr());
  return success();
}

LogicalResult Converter::convertCountTokens(CountTokensOp op) {
  Value ids = valueOf(op.getIds());
  Value past = op.getPast() ? valueOf(op.getPast()) : Value();
  values[op.getResult()] = once(
      {ids.getAsOpaquePointer(), op.getPaddingAttr().getAsOpaquePointer(),
       op.getFirstAttr().getAsOpaquePointer(),
       op.getEachAttr().getAsOpaquePointer(),
       op->getName().getAsOpaquePointer()},
      [&]() -> Value {
        Space space = spaceOf(op.getIds());
        Value to =
            makeIndices(head, op.getLoc(), rowsOf(spaceOf(op.getResult())));
        return kernel::CountTokensOp::create(
                   head, op.getLoc(), to.getType(), ids, past, tokensOf(space),
                   op.getPaddingAttr(), op.getFirstAttr(), op.getEachAttr(), to)
            .getResult();
      });
  return success();
}

LogicalResult Converter::convertConstant(ConstantOp op) {
  Value table = weight(op.getLoc(), op.getValueAttr());
  if (!table)
    return failure();
  SmallVector<int64_t> numbers(spaceOf(op.getResult()).count);
  std::iota(numbers.begin(), numbers.end(), 0);
  RowsParts spec;
  spec.inputs.push_back(table);
  spec.indices.push_back(
      tokenNumbers(op.getLoc(), head.getDenseI64ArrayAttr(numbers)));
  spec.gather.push_back(0);
  values[op.getResult()] =
      makeRows(body, op.getLoc(), spec, rowsOf(op.getResult()),
               channelsOf(op.getResult()),
               [](OpBuilder &, Location, ValueRange x) { return x[0]; });
  return success();
}

// The row of each sequence's token.
Value Converter::poolIndex(Location location, Value read, Value tokens,
                           Pool kind, int64_t skip, int64_t id) {
  Value to = makeIndices(body, location, batch);
  return kernel::PoolIndexOp::create(body, location, to.getType(), read, tokens,
                                     kind, skip, id, to)
      .getResult();
}

LogicalResult Converter::convertPool(PoolOp op) {
  Location location = op.getLoc();
  Value input = valueOf(op.getInput()),
        counted = tokensOf(spaceOf(op.getInput()));
  auto optional = [&](Value given) { return given ? valueOf(given) : Value(); };
  Value mask = optional(op.getKeyMask());
  if (op.getKind() == Pool::mean) {
    Value to = destinationOf(op.getResult());
    values[op.getResult()] =
        kernel::PoolMeanOp::create(body, location, to.getType(), input, mask,
                                   counted, op.getSkip(), to)
            .getResult();
    return success();
  }
  Value read = op.getKind() == Pool::last ? mask : optional(op.getIds());
  RowsParts spec;
  spec.inputs.push_back(input);
  spec.indices.push_back(poolIndex(location, read, counted, op.getKind(),
                                   op.getSkip(), op.getId()));
  spec.gather.push_back(0);
  values[op.getResult()] =
      makeRows(body, location, spec, batch, channelsOf(op.getResult()),
               [](OpBuilder &, Location, ValueRange x) { return x[0]; });
  return success();
}

LogicalResult Converter::convertKeep(KeepOp op) {
  kernel::KeepOp::create(body, op.getLoc(), valueOf(op.getInput()),
                         op.getName(), op.getIndex());
  return success();
}

LogicalResult Converter::convertReverseTokens(ReverseTokensOp op) {
  Value to = destinationOf(op.getResult());
  values[op.getResult()] =
      kernel::ReverseTokensOp::create(
          body, op.getLoc(), to.getType(), valueOf(op.getInput()),
          op.getKeyMask() ? valueOf(op.getKeyMask()) : Value(),
          tokensOf(spaceOf(op.getInput())), to)
          .getResult();
  return success();
}
