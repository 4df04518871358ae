// The ops and the operands of a kernel, from kernel.joined.
// Must not decide what is joined.
#include "dialects/kernel/Joined.h"

using namespace mlir;

namespace mille::kernel {

bool isJoined(Operation *op) { return op->hasAttr(joinedName); }

bool isLeader(Operation *op) { return isGenerated(op) && !isJoined(op); }

SmallVector<RowsOp> joinedTo(Operation *leader) {
  SmallVector<RowsOp> joined;
  for (Operation *op = leader->getNextNode(); op; op = op->getNextNode())
    if (isJoined(op))
      joined.push_back(cast<RowsOp>(op));
    else if (isGenerated(op))
      break;
  return joined;
}

static OpOperand &outOf(Operation *op) {
  MutableOperandRange outs =
      cast<DestinationStyleOpInterface>(op).getDpsInitsMutable();
  return outs[outs.size() - 1];
}

static SmallVector<Operation *> kernelOf(Operation *leader) {
  SmallVector<Operation *> ops{leader};
  for (RowsOp op : joinedTo(leader))
    ops.push_back(op);
  return ops;
}

bool isWritten(Operation *leader, Operation *op) {
  SmallVector<Operation *> ops = kernelOf(leader);
  Value out = outOf(op).get();
  if (op == ops.back() || !out.getDefiningOp<ArenaOp>())
    return true;
  return !llvm::all_of(out.getUsers(), [&](Operation *user) {
    return llvm::is_contained(ops, user);
  });
}

SmallVector<int> sourcesOf(Operation *leader, RowsOp joined) {
  SmallVector<int> sources(joined.getInputs().size(), -1);
  for (auto [number, op] : llvm::enumerate(kernelOf(leader))) {
    if (op == joined)
      break;
    for (auto [source, input] : llvm::zip_equal(sources, joined.getInputs()))
      if (input == outOf(op).get())
        source = int(number);
  }
  return sources;
}

SmallVector<OpOperand *> operandsOfKernel(Operation *leader) {
  SmallVector<Operation *> ops = kernelOf(leader);
  SmallVector<OpOperand *> operands;
  for (OpOperand &operand : leader->getOpOperands())
    if (ops.size() == 1 || &operand != &outOf(leader))
      operands.push_back(&operand);
  if (ops.size() == 1)
    return operands;
  for (RowsOp op : joinedTo(leader))
    for (auto [input, source] :
         llvm::zip_equal(op.getInputsMutable(), sourcesOf(leader, op)))
      if (source < 0)
        operands.push_back(&input);
  for (Operation *op : ops)
    if (isWritten(leader, op))
      operands.push_back(&outOf(op));
  return operands;
}

} // namespace mille::kernel
