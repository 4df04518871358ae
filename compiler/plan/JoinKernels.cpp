// Joins rows to the kernel that makes what they read.
// Must not know generators: the caller asks them.
#include "compiler/plan/Passes.h"
#include "dialects/kernel/Joined.h"

namespace mille::plan {
#define GEN_PASS_DEF_JOINKERNELS
#include "compiler/plan/Passes.h.inc"
} // namespace mille::plan

using namespace mlir;
using namespace mille::kernel;

namespace {

bool readsNothingOf(Operation *leader, RowsOp op) {
  return llvm::all_of(sourcesOf(leader, op),
                      [](int source) { return source < 0; });
}

struct JoinKernels : mille::plan::impl::JoinKernelsBase<JoinKernels> {
  JoinKernels() = default;
  explicit JoinKernels(mille::plan::Joins joins) : joins(std::move(joins)) {}

  void runOnOperation() override {
    getOperation().walk([&](LaunchOp launch) { joinIn(launch); });
  }

  void joinIn(LaunchOp launch) {
    Operation *leader = nullptr;
    for (Operation &op : launch.getBody().front()) {
      if (!isLeader(&op))
        continue;
      auto rows = dyn_cast<RowsOp>(op);
      if (!leader || !rows || !mayJoin(leader, rows))
        leader = &op;
    }
  }

  // Joins it, or leaves it as it is.
  bool mayJoin(Operation *leader, RowsOp rows) {
    if (!isa<RowsOp, MatmulOp>(leader) || !rows.getIndices().empty() ||
        !isa<MemRefType>(rows.getOut().getType()) ||
        readsNothingOf(leader, rows))
      return false;
    rows->setAttr(joinedName, UnitAttr::get(&getContext()));
    if (!joins || joins(leader))
      return true;
    rows->removeAttr(joinedName);
    return false;
  }

  mille::plan::Joins joins;
};

} // namespace

std::unique_ptr<Pass> mille::plan::createJoinKernels(Joins joins) {
  return std::make_unique<JoinKernels>(std::move(joins));
}
