// Notes that queries and keys are rotated in the attention's prologue.
// Rewrites nothing: the conversion knows no other place for it.
#include "compiler/fuse/FusionReport.h"
#include "compiler/fuse/Passes.h"

namespace mille {
#define GEN_PASS_DEF_FUSEROPE
#include "compiler/fuse/Passes.h.inc"
} // namespace mille

namespace {

struct FuseRope : mille::impl::FuseRopeBase<FuseRope> {
  void runOnOperation() override {
    for (auto function :
         getOperation().getBody().getOps<mlir::func::FuncOp>()) {
      mille::FusionReport report(function, mille::boundary::rope);
      function.walk([&](mille::kernel::AttentionOp op) {
        if (!op.getRotation())
          return;
        // Rotated queries and keys are neither written nor read again.
        int64_t heads = op.getHeads() + op.getKvHeads();
        report.holds(op, 2 * 4 * heads * op.getHeadDim(), 2,
                     "in the attention's prologue");
      });
    }
  }
};

} // namespace
