// Multiplies the sums that an epilogue reads by scales of their columns and
// rows.
// Must not change how they are summed.
#include "compiler/plan/ScaleSums.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mille::kernel;

static void multiplyFirst(Value sum, Value scale) {
  OpBuilder builder = OpBuilder::atBlockBegin(sum.getParentBlock());
  auto scaled = arith::MulFOp::create(builder, sum.getLoc(), sum, scale);
  sum.replaceAllUsesExcept(scaled, scaled);
}

static void scaleSum(Value sum, Value column) {
  arith::AddFOp biased;
  if (sum.hasOneUse())
    biased = dyn_cast<arith::AddFOp>(*sum.user_begin());
  if (!biased)
    return multiplyFirst(sum, column);
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

void mille::plan::scaleRows(MatmulOp op, Value rows) {
  op.getExtrasMutable().append(rows);
  Block &region = op.getEpilogue().front();
  Value row =
      region.addArgument(Float32Type::get(op.getContext()), op.getLoc());
  for (unsigned a = 0; a < op.getAccumulators(); ++a)
    multiplyFirst(region.getArgument(a), row);
}
