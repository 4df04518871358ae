// Puts the weights of matmuls into panels of columns, as kernels read them.
// Must not move numbers: it writes an expression, which link evaluates.
#include "compiler/plan/Passes.h"
#include "mlir/IR/Builders.h"

namespace mille::plan {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "compiler/plan/Passes.h.inc"
} // namespace mille::plan

using namespace mlir;
using namespace mille::kernel;

// A panel has 48 columns, which are three vectors of AVX-512, or 64, which are
// four. With 48 a tile of 8 rows fills the registers, and reads from L2 three
// quarters of what a tile of 6 rows reads with 64: BERT-base on Cascade Lake is
// 1.02 to 1.05 times as fast at 128 tokens, and 1 to 1.09 times at 32. With 64
// the columns of two accumulators are whole vectors, and 256 columns need no
// padding. So 48 is chosen unless its padding is larger by more than one column
// in 32. A device reads panels of 64: by the model of devices work-groups of
// 8 x 8 items waste least.
int64_t mille::plan::panelOf(int64_t columns, int64_t accumulators,
                             bool forDevices) {
  const int64_t narrow = 48, wide = 64;
  if (accumulators > 1 || forDevices)
    return wide;
  const int64_t inNarrow = llvm::divideCeil(columns, narrow) * narrow;
  const int64_t inWide = llvm::divideCeil(columns, wide) * wide;
  return inNarrow - inWide <= inWide / 32 ? narrow : wide;
}

namespace {

// Replaces `operand`, which holds a weight's rows, by panels of these rows.
void pack(OpOperand &operand, int64_t accumulators, bool forDevices) {
  auto weight = operand.get().getDefiningOp<WeightOp>();
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!weight || !type || isa<mille::transformer::PackAttr>(weight.getValue()))
    return;
  // [N, K], or a stack [entries, N, K].
  int64_t depth = type.getShape().back(),
          group = groupOf(type.getElementType());
  const int64_t columns = type.getShape().end()[-2];
  const int64_t panel = mille::plan::panelOf(columns, accumulators, forDevices);
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

struct PackWeights : mille::plan::impl::PackWeightsBase<PackWeights> {
  using PackWeightsBase::PackWeightsBase;
  void runOnOperation() override {
    SmallVector<MatmulOp> matmuls;
    getOperation().walk([&](MatmulOp op) { matmuls.push_back(op); });
    for (MatmulOp matmul : matmuls) {
      pack(matmul.getWeightMutable(), matmul.getAccumulators(), forDevices);
      if (matmul.getSums())
        pack(matmul.getSumsMutable()[0], matmul.getAccumulators(), forDevices);
    }
  }
};

} // namespace
