// Puts the weights of matmuls into panels of columns, as kernels read them.
// Must not move numbers: it writes an expression, which link evaluates.
#include "compiler/kernels/Panels.h"
#include "compiler/plan/Passes.h"
#include "dialects/transformer/Encoding.h"
#include "mlir/IR/Builders.h"

namespace mille::plan {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "compiler/plan/Passes.h.inc"
} // namespace mille::plan

using namespace mlir;
using namespace mille::kernel;

namespace {

// Replaces `operand`, which holds a weight's rows, by panels of these rows.
void pack(OpOperand &operand, int64_t accumulators, ArrayRef<int64_t> widths) {
  auto weight = operand.get().getDefiningOp<WeightOp>();
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!weight || !type || isa<mille::transformer::PackAttr>(weight.getValue()))
    return;
  // [N, K], or a stack [entries, N, K].
  int64_t depth = type.getShape().back(),
          group = groupOf(type.getElementType());
  const int64_t columns = type.getShape().end()[-2];
  const int64_t panel = mille::panelWidth(columns, widths);
  SmallVector<int64_t> shape(type.getShape().drop_back(2));
  shape.append({int64_t(llvm::divideCeil(columns, panel)),
                int64_t(llvm::divideCeil(depth, group)), panel * group});
  auto packed = RankedTensorType::get(shape, type.getElementType());
  auto value = mille::transformer::PackAttr::get(
      weight.getContext(), weight.getValue(), panel, accumulators, group);
  OpBuilder builder(weight);
  auto fresh = WeightOp::create(builder, weight.getLoc(), packed, value);
  operand.set(fresh.getResult());
  if (weight->use_empty())
    weight.erase();
}

// The same of a weight in blocks, whose panels have one width.
void packBlocks(MatmulOp matmul) {
  auto weight = matmul.getWeight().getDefiningOp<WeightOp>();
  auto value =
      weight ? dyn_cast<mille::transformer::InBlocksAttr>(weight.getValue())
             : mille::transformer::InBlocksAttr();
  if (!value)
    return;
  const mille::Encoding encoding = value.getEncoding();
  const int64_t accumulators = matmul.getAccumulators();
  auto type = cast<RankedTensorType>(weight.getResult().getType());
  const int64_t columns = type.getShape().end()[-2] / accumulators;
  SmallVector<int64_t> shape(type.getShape().drop_back(2));
  shape.append(
      {int64_t(llvm::divideCeil(columns, mille::rowsOfBlockPanel)),
       type.getShape().back() / mille::blockLength(encoding),
       accumulators * mille::rowsOfBlockPanel * mille::blockBytes(encoding)});
  OpBuilder builder(weight);
  auto fresh = WeightOp::create(
      builder, weight.getLoc(),
      RankedTensorType::get(shape, builder.getI8Type()),
      mille::transformer::PackBlocksAttr::get(
          weight.getContext(), value.getValue(), encoding, accumulators));
  matmul.getWeightMutable().assign(fresh.getResult());
  if (weight->use_empty())
    weight.erase();
}

struct PackWeights : mille::plan::impl::PackWeightsBase<PackWeights> {
  using PackWeightsBase::PackWeightsBase;
  void runOnOperation() override {
    SmallVector<MatmulOp> matmuls;
    getOperation().walk([&](MatmulOp op) { matmuls.push_back(op); });
    for (MatmulOp matmul : matmuls) {
      if (matmul.getBlocks()) {
        packBlocks(matmul);
        continue;
      }
      const int64_t accumulators = matmul.getAccumulators();
      ArrayRef<int64_t> ofThis = accumulators > 1 ? ofMore : widths;
      pack(matmul.getWeightMutable(), accumulators, ofThis);
      if (matmul.getSums())
        pack(matmul.getSumsMutable()[0], accumulators, ofThis);
    }
  }
};

} // namespace
