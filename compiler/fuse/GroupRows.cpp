// Groups row kernels into the launch of the kernel whose rows they read, so
// that one task runs both while the rows are in cache.
// Must not choose which ops to group, nor name the boundary: the passes do.
#include "compiler/fuse/GroupRows.h"
#include "compiler/fuse/Boundaries.h"

using namespace mlir;
using namespace mille;
using kernel::LaunchOp;
using kernel::MatmulOp;
using kernel::RowsOp;

Operation *mille::makerOf(Value value) {
  while (auto launch = value.getDefiningOp<LaunchOp>())
    value = launch.getBody().front().getTerminator()->getOperand(
        cast<OpResult>(value).getResultNumber());
  return value.getDefiningOp();
}

namespace {

Value destinationRows(Operation *op) {
  Value out = isa<MatmulOp>(op) ? cast<MatmulOp>(op).getOut()
                                : cast<RowsOp>(op).getOut();
  auto empty = out.getDefiningOp<tensor::EmptyOp>();
  return empty && empty.getDynamicSizes().size() == 1
             ? empty.getDynamicSizes()[0]
             : Value();
}

// Ops that may be moved up to where `op`'s operands are needed.
bool isMovable(Operation *op) {
  return isa<tensor::EmptyOp, kernel::WeightOp>(op);
}

// A launch around `op` and its destination, which hands out its result.
LaunchOp wrap(Operation *op) {
  OpBuilder builder(op);
  Value result = op->getResult(0);
  auto launch = LaunchOp::create(builder, op->getLoc(), result.getType());
  Block &body = launch.getBody().emplaceBlock();
  result.replaceAllUsesWith(launch.getResult(0));
  op->moveBefore(&body, body.end());
  builder.setInsertionPointToEnd(&body);
  kernel::YieldOp::create(builder, op->getLoc(), result);
  for (Value operand : op->getOperands())
    if (auto empty = operand.getDefiningOp<tensor::EmptyOp>();
        empty && empty->hasOneUse())
      empty->moveBefore(op);
  return launch;
}

// A launch with the body of `old` that hands out what is read outside.
LaunchOp handOut(LaunchOp old) {
  Block &body = old.getBody().front();
  SmallVector<Value> results;
  for (Operation &op : body)
    for (Value result : op.getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !old->isAncestor(user); }))
        results.push_back(result);
  OpBuilder builder(old);
  auto launch =
      LaunchOp::create(builder, old.getLoc(), TypeRange(ValueRange(results)));
  launch.getBody().takeBody(old.getBody());
  Operation *yield = launch.getBody().front().getTerminator();
  for (auto [inside, outside] : llvm::zip(results, launch.getResults()))
    inside.replaceUsesWithIf(outside, [&](OpOperand &use) {
      return !launch->isAncestor(use.getOwner());
    });
  yield->setOperands(results);
  old.erase();
  return launch;
}

} // namespace

std::string mille::whyNotGroup(RowsOp op, Value input) {
  Operation *holder = input.getDefiningOp();
  if (holder->getBlock() != op->getBlock())
    return missing::outside.str();
  if (auto matmul = dyn_cast<MatmulOp>(makerOf(input));
      matmul && (matmul.getStarts() || matmul.getHeads()))
    return matmul.getStarts() ? "the rows are split by expert"
                              : "the columns are split by head";
  if (Value rows = destinationRows(makerOf(input));
      !rows || rows != destinationRows(op))
    return "the kernels run over different rows";
  for (Value operand : op->getOperands()) {
    Operation *maker = operand.getDefiningOp();
    if (!maker || maker == holder || maker->getBlock() != op->getBlock() ||
        maker->isBeforeInBlock(holder) || isMovable(maker))
      continue;
    return "it reads another value that is made later";
  }
  return "";
}

void mille::groupInto(RowsOp op, Value input) {
  auto launch = input.getDefiningOp<LaunchOp>();
  if (!launch)
    launch = wrap(input.getDefiningOp());
  Operation *yield = launch.getBody().front().getTerminator();
  for (OpOperand &operand : op->getOpOperands()) {
    Operation *maker = operand.get().getDefiningOp();
    if (maker == launch) {
      operand.set(
          yield->getOperand(cast<OpResult>(operand.get()).getResultNumber()));
    } else if (maker && maker->getBlock() == launch->getBlock() &&
               isMovable(maker)) {
      bool own = isa<tensor::EmptyOp>(maker) && maker->hasOneUse();
      if (own)
        maker->moveBefore(yield);
      else if (!maker->isBeforeInBlock(launch))
        maker->moveBefore(launch);
    }
  }
  op->moveBefore(yield);
  // The launch's results stand for values inside: uses inside read those, then
  // the launch hands out what is read outside.
  for (auto [outside, inside] :
       llvm::zip(launch.getResults(), yield->getOperands()))
    outside.replaceAllUsesWith(inside);
  handOut(launch);
}
