// Fuses a norm into the launch of the kernel that computes the sum it reads.
// Must not move a norm across the layer loop's edge.
#include "compiler/fuse/FusionReport.h"
#include "compiler/fuse/GroupRows.h"
#include "compiler/fuse/MergeRows.h"
#include "compiler/fuse/Passes.h"

namespace mille {
#define GEN_PASS_DEF_FUSEADDNORM
#include "compiler/fuse/Passes.h.inc"
} // namespace mille

using namespace mlir;
using namespace mille;

namespace {

// Why a norm of a value that the layer loop hands over, or hands out, stays
// where it is; empty for other values. CarryNorm has moved the norms at the
// beginning of every layer.
StringRef lawOfLoop(Value value) {
  if (value.getDefiningOp<kernel::LayersOp>())
    return missing::lastLayer;
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && isa<kernel::LayersOp>(argument.getOwner()->getParentOp()))
    return missing::layerBefore;
  return "";
}

struct FuseAddNorm : mille::impl::FuseAddNormBase<FuseAddNorm> {
  void runOnOperation() override {
    for (auto function : getOperation().getBody().getOps<func::FuncOp>())
      run(function);
  }

  void run(func::FuncOp function) {
    FusionReport report(function, boundary::addNorm);
    SmallVector<kernel::RowsOp> norms;
    function.walk([&](kernel::RowsOp op) {
      if (op.getNorm() && op.getGather()[0] < 0)
        norms.push_back(op);
    });
    for (kernel::RowsOp op : norms) {
      Value input = op.getInputs()[0];
      if (StringRef law = lawOfLoop(input); !law.empty()) {
        report.declined(op, law);
        continue;
      }
      if (isa<kernel::LaunchOp>(op->getParentOp()))
        continue;
      if (isa_and_nonnull<kernel::CombineOp>(makerOf(input)))
        report.declined(op, missing::inLaunch);
      if (!isSum(makerOf(input)))
        continue;
      if (std::string why = whyNotGroup(op, input); !why.empty()) {
        report.declined(op, why);
        continue;
      }
      int64_t bytes = rowBytes(input);
      groupInto(op, input);
      report.fused(op, bytes, 1, "in the task that makes the sum");
    }
  }

  // A matmul with its sum, or a branch norm with its sum: not an embedding.
  static bool isSum(Operation *maker) {
    if (isa_and_nonnull<kernel::MatmulOp>(maker))
      return true;
    auto rows = dyn_cast_or_null<kernel::RowsOp>(maker);
    return rows && rows.getIndices().empty();
  }
};

} // namespace
