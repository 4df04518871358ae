// Puts the weights of matmuls into panels of columns where kernels read them
// so.
// Must not move numbers: it writes an expression, which link evaluates.
#include "compiler/kernels/Panels.h"
#include "compiler/plan/Passes.h"
#include "dialects/transformer/Panels.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

namespace mille::plan {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "compiler/plan/Passes.h.inc"
} // namespace mille::plan

using namespace mlir;
using namespace mille::kernel;

namespace {

// Replaces `operand`, which is what `weight` gives, by another value of it.
void replaceBy(OpOperand &operand, WeightOp weight, RankedTensorType type,
               Attribute value) {
  OpBuilder builder(weight);
  operand.set(
      WeightOp::create(builder, weight.getLoc(), type, value).getResult());
  if (weight->use_empty())
    weight.erase();
}

// A weight that changes between runs is packed by an op of the program.
void packAgain(OpOperand &operand, PackOp op, int64_t accumulators,
               ArrayRef<int64_t> widths) {
  auto type = cast<RankedTensorType>(op.getOut().getType());
  if (type.getRank() != (op.getStarts() ? 3 : 2))
    return;
  const int64_t columns = type.getShape().end()[-2];
  const mille::Panels panels{mille::panelWidth(columns, widths), accumulators,
                             groupOf(type.getElementType())};
  OpBuilder builder(op);
  auto packed = type.clone(panels.shapeOf(type.getShape()));
  Value to = tensor::EmptyOp::create(builder, op.getLoc(), packed.getShape(),
                                     packed.getElementType());
  operand.set(PackOp::create(builder, op.getLoc(), packed, op.getWeight(),
                             op.getStarts(), to, op.getTransposed())
                  .getResult());
  if (op->use_empty())
    op.erase();
}

// Panels of the rows that `operand` holds: [N, K], or a stack [entries, N, K].
void pack(OpOperand &operand, int64_t accumulators, ArrayRef<int64_t> widths) {
  if (auto packed = operand.get().getDefiningOp<PackOp>())
    return packAgain(operand, packed, accumulators, widths);
  auto weight = operand.get().getDefiningOp<WeightOp>();
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!weight || !type || isa<mille::transformer::PackAttr>(weight.getValue()))
    return;
  const int64_t columns = type.getShape().end()[-2];
  const mille::Panels panels{mille::panelWidth(columns, widths), accumulators,
                             groupOf(type.getElementType())};
  replaceBy(operand, weight, type.clone(panels.shapeOf(type.getShape())),
            mille::transformer::PackAttr::get(weight.getContext(),
                                              weight.getValue(), panels.width,
                                              accumulators, panels.group));
}

// The same of a weight in blocks, whose panels have one width.
void packBlocks(MatmulOp matmul) {
  auto weight = matmul.getWeight().getDefiningOp<WeightOp>();
  auto value =
      weight ? dyn_cast<mille::transformer::InBlocksAttr>(weight.getValue())
             : mille::transformer::InBlocksAttr();
  if (!value)
    return;
  const mille::BlockPanels panels{value.getEncoding(),
                                  int64_t(matmul.getAccumulators())};
  auto type = cast<RankedTensorType>(weight.getResult().getType());
  replaceBy(matmul.getWeightMutable(), weight,
            RankedTensorType::get(panels.shapeOf(type.getShape()),
                                  IntegerType::get(weight.getContext(), 8)),
            mille::transformer::PackBlocksAttr::get(
                weight.getContext(), value.getValue(), panels.encoding,
                panels.accumulators));
}

// Rows begin at multiples of 16 bytes.
bool mayStayInRows(MatmulOp matmul) {
  ShapedType type = cast<ShapedType>(matmul.getWeight().getType());
  Type element = type.getElementType();
  const int64_t inner = type.getShape().back();
  return inner % mille::PanelWidths::rowUnit == 0 &&
         inner * element.getIntOrFloatBitWidth() % 128 == 0;
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
      if (inRows && mayStayInRows(matmul))
        continue;
      const int64_t accumulators = matmul.getAccumulators();
      ArrayRef<int64_t> ofThis = accumulators > 1 ? ofMore : widths;
      if (ofThis.empty() || *llvm::min_element(ofThis) < 1) {
        matmul.emitOpError()
            << "is to be packed by the option "
            << (accumulators > 1 ? "widths-of-more" : "widths")
            << " but that holds "
            << (ofThis.empty() ? "no number" : "a number below 1");
        return signalPassFailure();
      }
      pack(matmul.getWeightMutable(), accumulators, ofThis);
      if (matmul.getSums())
        pack(matmul.getSumsMutable()[0], accumulators, ofThis);
    }
  }
};

} // namespace
