// Fuses the norm of an embedding into the launch that gathers it.
// Must not move a norm across the layer loop's edge.
#include "compiler/fuse/FusionReport.h"
#include "compiler/fuse/GroupRows.h"
#include "compiler/fuse/MergeRows.h"
#include "compiler/fuse/Passes.h"

namespace mille {
#define GEN_PASS_DEF_FUSEEMBEDNORM
#include "compiler/fuse/Passes.h.inc"
} // namespace mille

using namespace mlir;
using namespace mille;

namespace {

bool isNormOf(Operation *op, Value value) {
  auto rows = dyn_cast<kernel::RowsOp>(op);
  return rows && rows.getNorm() && rows.getInputs()[0] == value &&
         rows.getGather()[0] < 0;
}

// Gathers rows of parameters, as an embedding does.
bool isEmbedding(kernel::RowsOp op) {
  return llvm::any_of(llvm::zip(op.getInputs(), op.getGather()), [](auto pair) {
    auto [input, gather] = pair;
    return gather >= 0 && input.template getDefiningOp<kernel::WeightOp>();
  });
}

struct FuseEmbedNorm : mille::impl::FuseEmbedNormBase<FuseEmbedNorm> {
  void runOnOperation() override {
    for (auto function : getOperation().getBody().getOps<func::FuncOp>())
      run(function);
  }

  void run(func::FuncOp function) {
    FusionReport report(function, boundary::embedNorm);
    SmallVector<kernel::RowsOp> embeddings;
    function.walk([&](kernel::RowsOp op) {
      if (isEmbedding(op) && !isa<kernel::LaunchOp>(op->getParentOp()))
        embeddings.push_back(op);
    });
    for (kernel::RowsOp op : embeddings)
      fuse(op, report);
  }

  void fuse(kernel::RowsOp embedding, FusionReport &report) {
    Value value = embedding.getResult();
    SmallVector<kernel::RowsOp> norms;
    for (Operation *user : value.getUsers()) {
      if (isNormOf(user, value))
        norms.push_back(cast<kernel::RowsOp>(user));
      if (auto loop = dyn_cast<kernel::LayersOp>(user);
          loop && startsWithNorm(loop))
        report.declined(embedding, missing::inLoop);
    }
    llvm::sort(norms, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    for (kernel::RowsOp norm : norms) {
      Value input = norm.getInputs()[0];
      if (std::string why = whyNotGroup(norm, input); !why.empty()) {
        report.declined(embedding, why);
        continue;
      }
      groupInto(norm, input);
      report.fused(embedding, rowBytes(value), 1,
                   "in the task that gathers the rows");
    }
  }

  static bool startsWithNorm(kernel::LayersOp loop) {
    return llvm::any_of(loop.getBodyRegions(), [](Region &body) {
      return llvm::any_of(body.getArgument(0).getUsers(), [&](Operation *user) {
        return isNormOf(user, body.getArgument(0));
      });
    });
  }
};

} // namespace
