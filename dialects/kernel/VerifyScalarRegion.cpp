// Verifies scalar regions: what is in one has a kernel and a meaning, since all
// read the same list of ops.
#include "dialects/kernel/Access.h"

using namespace mlir;

namespace {

bool isListed(Operation &op) {
  return isa<
#define MILLE_SCALAR_OP(name, op) op,
#include "dialects/kernel/ScalarOps.def"
      arith::CmpFOp, arith::ConstantOp>(op);
}

bool isListed(arith::CmpFPredicate predicate) {
  switch (predicate) {
#define MILLE_SCALAR_COMPARISON(name, predicate)                               \
  case arith::CmpFPredicate::predicate:
#include "dialects/kernel/ScalarOps.def"
    return true;
  default:
    return false;
  }
}

LogicalResult verifyConstant(Operation *op, arith::ConstantOp constant) {
  if (isa<FloatAttr>(constant.getValue()) && constant.getType().isF32())
    return success();
  return op->emitOpError("region reads the constant ")
         << constant.getValue() << " but constants are f32";
}

// A value is of the region, or a constant that an earlier pass moved out of it.
LogicalResult verifyRead(Operation *op, Region &region, Value value) {
  if (value.getParentRegion() == &region)
    return success();
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    return verifyConstant(op, constant);
  return op->emitOpError("region reads a ")
         << value.getType()
         << " of another region but only a constant may be of one";
}

LogicalResult verifyStep(Operation *op, Operation &step) {
  if (!isListed(step))
    return op->emitOpError("region holds ")
           << step.getName() << ", which no kernel computes";
  if (auto constant = dyn_cast<arith::ConstantOp>(step))
    return verifyConstant(op, constant);
  auto compare = dyn_cast<arith::CmpFOp>(step);
  if (!compare || isListed(compare.getPredicate()))
    return success();
  return op->emitOpError("region compares by ")
         << arith::stringifyCmpFPredicate(compare.getPredicate())
         << " but kernels compare by oeq, ogt, oge, olt, ole and une";
}

} // namespace

LogicalResult mille::kernel::verifyScalarRegion(Operation *op, Region &region,
                                                size_t arguments,
                                                StringRef reason) {
  Block &block = region.front();
  if (block.getNumArguments() != arguments)
    return op->emitOpError()
           << "region has " << block.getNumArguments() << " arguments but "
           << arguments << " are needed, " << reason;
  for (Type type : block.getArgumentTypes())
    if (!type.isF32())
      return op->emitOpError() << "region has an argument of type " << type
                               << " but they are f32";
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield || yield.getValues().size() != 1 ||
      !yield.getValues()[0].getType().isF32())
    return op->emitOpError("region must yield one f32");
  for (Operation &step : block) {
    if (&step != yield.getOperation() && failed(verifyStep(op, step)))
      return failure();
    for (Value value : step.getOperands())
      if (failed(verifyRead(op, region, value)))
        return failure();
  }
  return success();
}
