// Notes which queries and keys are rotated in the attention's prologue, and why
// others are not. Must not rewrite: the conversion has chosen already.
#include "compiler/fuse/FusionReport.h"
#include "compiler/fuse/Passes.h"

namespace mille {
#define GEN_PASS_DEF_FUSEROPE
#include "compiler/fuse/Passes.h.inc"
} // namespace mille

namespace {

// Why attention does not do the rotation of `op`.
llvm::StringRef whyNotPrologue(mille::kernel::RotateOp op) {
  for (mlir::Operation *user : op.getResult().getUsers()) {
    auto attention = llvm::dyn_cast<mille::kernel::AttentionOp>(user);
    if (!attention)
      return mille::missing::turnedRead;
    if (attention.getValue() == op.getResult())
      return "the value is turned too";
  }
  return "query and key are not turned alike";
}

struct FuseRope : mille::impl::FuseRopeBase<FuseRope> {
  void runOnOperation() override {
    for (auto function :
         getOperation().getBody().getOps<mlir::func::FuncOp>()) {
      mille::FusionReport report(function, mille::boundary::rope);
      function.walk([&](mille::kernel::AttentionOp op) {
        if (!op.getRotation())
          return;
        // Rotated queries and keys are neither written nor read again. This
        // counts no launch: the rotation is an operand of attention.
        int64_t heads = op.getHeads() + op.getKvHeads();
        report.holds(op, 2 * 4 * heads * op.getHeadDim(), 0,
                     "in the attention's prologue");
      });
      function.walk([&](mille::kernel::RotateOp op) {
        report.declined(op, whyNotPrologue(op));
      });
    }
  }
};

} // namespace
