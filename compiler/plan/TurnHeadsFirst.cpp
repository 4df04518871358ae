// RoPE as a launch before attention, where kernels would turn keys many times.
// Must not change what attention reads otherwise.
#include "compiler/plan/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

namespace mille::plan {
#define GEN_PASS_DEF_TURNHEADSFIRST
#include "compiler/plan/Passes.h.inc"
} // namespace mille::plan

using namespace mlir;
using namespace mille::kernel;

namespace {

Type elementOf(Value value) {
  return cast<ShapedType>(value.getType()).getElementType();
}

// The first `heads` heads of a buffer, turned as attention would.
Value turned(AttentionOp op, Value input, int64_t heads) {
  OpBuilder builder(op);
  auto room = op.getOut().getDefiningOp<tensor::EmptyOp>();
  auto type = RankedTensorType::get(
      {ShapedType::kDynamic, heads * int64_t(op.getHeadDim())},
      elementOf(input));
  Value out = tensor::EmptyOp::create(builder, op.getLoc(), type,
                                      room.getDynamicSizes());
  return RotateOp::create(builder, op.getLoc(), type, input, op.getRotation(),
                          out, heads, op.getHeadDim(), op.getPairing(),
                          op.getStart())
      .getResult();
}

void turnFirst(AttentionOp op) {
  Value query = op.getQuery(), key = op.getKey();
  const int64_t heads = op.getHeads(), kvHeads = op.getKvHeads();
  auto offsets = op.getOffsets();
  if (!op.getRotation() || elementOf(query) != elementOf(key) || offsets[0] ||
      !op.getOut().getDefiningOp<tensor::EmptyOp>())
    return;
  if (query == key) {
    if (offsets[1] != heads * int64_t(op.getHeadDim()))
      return;
    query = key = turned(op, query, heads + kvHeads);
  } else {
    if (offsets[1])
      return;
    query = turned(op, query, heads);
    key = turned(op, key, kvHeads);
  }
  op.getQueryMutable().assign(query);
  op.getKeyMutable().assign(key);
  op.getRotationMutable().clear();
  op.setPairing(mille::transformer::Pairing::half);
  op.setStart(0);
}

struct TurnHeadsFirst : mille::plan::impl::TurnHeadsFirstBase<TurnHeadsFirst> {
  void runOnOperation() override { getOperation().walk(turnFirst); }
};

} // namespace
