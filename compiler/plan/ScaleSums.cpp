// Multiplies the sums that an epilogue reads by scales of their columns.
// Must not change how they are summed.
#include "compiler/plan/ScaleSums.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mille::kernel;

static void scaleSum(Value sum, Value column) {
  arith::AddFOp biased;
  if (sum.hasOneUse())
    biased = dyn_cast<arith::AddFOp>(*sum.user_begin());
  if (!biased) {
    OpBuilder builder = OpBuilder::atBlockBegin(sum.getParentBlock());
    auto scaled = arith::MulFOp::create(builder, sum.getLoc(), sum, column);
    sum.replaceAllUsesExcept(scaled, scaled);
    return;
  }
  Value bias = biased.getLhs() == sum ? biased.getRhs() : biased.getLhs();
  OpBuilder builder(biased);
  auto scaled =
      math::FmaOp::create(builder, biased.getLoc(), sum, column, bias);
  biased.replaceAllUsesWith(scaled.getResult());
  biased.erase();
}

void mille::plan::scaleSums(MatmulOp op, ValueRange columns) {
  op.getExtrasMutable().append(columns);
  Block &region = op.getEpilogue().front();
  for (unsigned a = 0; a < columns.size(); ++a) {
    Value column =
        region.addArgument(Float32Type::get(op.getContext()), op.getLoc());
    scaleSum(region.getArgument(a), column);
  }
}
