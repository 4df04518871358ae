// Weights of matmuls become panels of 64 columns, as kernels read them.
// Writes an expression; the numbers move at link.
#include "compiler/plan/Passes.h"
#include "mlir/IR/Builders.h"

namespace mille::plan {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "compiler/plan/Passes.h.inc"
} // namespace mille::plan

using namespace mlir;
using namespace mille::kernel;

namespace {

constexpr int64_t panel = 64; // columns; see design of the kernels

// `operand`, a weight's rows, as panels of them.
void pack(OpOperand &operand, int64_t accumulators) {
  auto weight = operand.get().getDefiningOp<WeightOp>();
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!weight || !type || isa<mille::transformer::PackAttr>(weight.getValue()))
    return;
  // [N, K], or a stack [entries, N, K] of such.
  int64_t depth = type.getShape().back(), group = groupOf(type.getElementType());
  SmallVector<int64_t> shape(type.getShape().drop_back(2));
  shape.append({int64_t(llvm::divideCeil(type.getShape().end()[-2], panel)),
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
  void runOnOperation() override {
    SmallVector<MatmulOp> matmuls;
    getOperation().walk([&](MatmulOp op) { matmuls.push_back(op); });
    for (MatmulOp matmul : matmuls) {
      pack(matmul.getWeightMutable(), matmul.getAccumulators());
      if (matmul.getSums())
        pack(matmul.getSumsMutable()[0], matmul.getAccumulators());
    }
  }
};

} // namespace
