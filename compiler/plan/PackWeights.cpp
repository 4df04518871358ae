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

void packWeight(MatmulOp matmul) {
  auto weight = matmul.getWeight().getDefiningOp<WeightOp>();
  auto type = dyn_cast<RankedTensorType>(matmul.getWeight().getType());
  if (!weight || !type || isa<mille::transformer::PackAttr>(weight.getValue()))
    return;
  // [N, K], or a stack [entries, N, K] of such.
  SmallVector<int64_t> shape(type.getShape().drop_back(2));
  int64_t accumulators = matmul.getAccumulators();
  int64_t panels = (type.getShape().end()[-2] + panel - 1) / panel;
  shape.append({panels, type.getShape().back(), panel});
  auto packed = RankedTensorType::get(shape, type.getElementType());
  auto value = mille::transformer::PackAttr::get(
      matmul.getContext(), weight.getValue(), panel, accumulators);
  OpBuilder builder(weight);
  auto fresh = WeightOp::create(builder, weight.getLoc(), packed, value);
  matmul.getWeightMutable().assign(fresh.getResult());
  if (weight->use_empty())
    weight.erase();
}

struct PackWeights : mille::plan::impl::PackWeightsBase<PackWeights> {
  void runOnOperation() override {
    SmallVector<MatmulOp> matmuls;
    getOperation().walk([&](MatmulOp op) { matmuls.push_back(op); });
    for (MatmulOp matmul : matmuls)
      packWeight(matmul);
  }
};

} // namespace
