// Fuses bias, scale and activation into the matmul's epilogue.
// Must not merge an op that reads another activation by element: that is a
// residual.
#include "compiler/fuse/FusionReport.h"
#include "compiler/fuse/MergeRows.h"
#include "compiler/fuse/Passes.h"

namespace mille {
#define GEN_PASS_DEF_FUSEBIASACTIVATION
#include "compiler/fuse/Passes.h.inc"
} // namespace mille

using namespace mlir;
using namespace mille;

namespace {

struct FuseBiasActivation
    : mille::impl::FuseBiasActivationBase<FuseBiasActivation> {
  void runOnOperation() override {
    for (auto function : getOperation().getBody().getOps<func::FuncOp>())
      run(function);
  }

  void run(func::FuncOp function) {
    FusionReport report(function, boundary::biasActivation);
    SmallVector<kernel::RowsOp> candidates;
    function.walk([&](kernel::RowsOp op) { candidates.push_back(op); });
    for (kernel::RowsOp op : candidates) {
      if (!isElementwise(op))
        continue;
      SmallVector<Value> inputs = elementInputs(op);
      if (inputs.size() != 1 ||
          !inputs.front().getDefiningOp<kernel::MatmulOp>())
        continue;
      if (std::string why = whyNotMerge(op, inputs.front()); !why.empty()) {
        report.declined(op, why);
        continue;
      }
      int64_t bytes = 2 * rowBytes(inputs.front());
      report.fused(mergeInto(op, inputs.front()), bytes, 1,
                   "in the matmul's epilogue");
    }
    // Biases of experts are in the matmul from the beginning.
    function.walk([&](kernel::MatmulOp op) {
      if (op.getStarts() && !op.getExtras().empty())
        report.holds(op, 2 * rowBytes(op.getResult()), 1,
                     "in the matmul's epilogue");
    });
    eraseDead(function);
  }
};

} // namespace
