// Notes that the attention kernel applies the softmax's scale itself.
// Must not rewrite: the scale is an attribute, folded into exp2's constant.
#include "compiler/fuse/FusionReport.h"
#include "compiler/fuse/Passes.h"

namespace mille {
#define GEN_PASS_DEF_FUSESOFTMAXSCALE
#include "compiler/fuse/Passes.h.inc"
} // namespace mille

namespace {

struct FuseSoftmaxScale : mille::impl::FuseSoftmaxScaleBase<FuseSoftmaxScale> {
  void runOnOperation() override {
    for (auto function :
         getOperation().getBody().getOps<mlir::func::FuncOp>()) {
      mille::FusionReport report(function, mille::boundary::softmaxScale);
      function.walk([&](mille::kernel::AttentionOp op) {
        report.holds(op, 0, 0, "with log2 e in the transposed queries");
      });
    }
  }
};

} // namespace
