// Fuses the residual sum with its scales into the kernel that computes the
// branch.
// Must not change the order of the sum.
#include "compiler/fuse/FusionReport.h"
#include "compiler/fuse/MergeRows.h"
#include "compiler/fuse/Passes.h"

namespace mille {
#define GEN_PASS_DEF_FUSERESIDUAL
#include "compiler/fuse/Passes.h.inc"
} // namespace mille

using namespace mlir;
using namespace mille;

namespace {

// The input whose kernel can compute the sum: the one that is computed last, so
// that the other inputs exist when it runs. Null, with the reason, where there
// is none.
Value lastMade(kernel::RowsOp sum, std::string &why) {
  Value best;
  for (Value input : elementInputs(sum)) {
    Operation *producer = input.getDefiningOp();
    if (!isa_and_nonnull<kernel::MatmulOp, kernel::RowsOp>(producer) ||
        producer->getBlock() != sum->getBlock())
      continue;
    std::string no = whyNotMerge(sum, input);
    if (!no.empty())
      why = no;
    else if (!best || best.getDefiningOp()->isBeforeInBlock(producer))
      best = input;
  }
  return best;
}

bool sumsExperts(kernel::RowsOp sum) {
  return llvm::any_of(elementInputs(sum), [](Value input) {
    return bool(input.getDefiningOp<kernel::CombineOp>());
  });
}

struct FuseResidual : mille::impl::FuseResidualBase<FuseResidual> {
  void runOnOperation() override {
    for (auto function : getOperation().getBody().getOps<func::FuncOp>())
      run(function);
  }

  void run(func::FuncOp function) {
    FusionReport report(function, boundary::residual);
    SmallVector<kernel::RowsOp> candidates;
    function.walk([&](kernel::RowsOp op) { candidates.push_back(op); });
    for (kernel::RowsOp op : candidates) {
      if (!isElementwise(op) || elementInputs(op).size() < 2)
        continue;
      std::string why = missing::noMaker.str();
      Value branch = lastMade(op, why);
      if (!branch) {
        report.declined(op, sumsExperts(op) ? missing::noEpilogue.str() : why);
        continue;
      }
      bool normed = branch.getDefiningOp<kernel::RowsOp>() != nullptr;
      int64_t bytes = 2 * rowBytes(branch);
      report.fused(mergeInto(op, branch), bytes, 1,
                   normed ? "in the branch norm's pass"
                          : "in the matmul's epilogue");
    }
    eraseDead(function);
  }
};

} // namespace
