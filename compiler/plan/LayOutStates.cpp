// Keys and values that entries remember in panels, as decode attention reads
// them.
// Must not change a state that anything else reads.
#include "compiler/plan/AttendedStates.h"
#include "compiler/plan/Passes.h"
#include "mlir/IR/Builders.h"

namespace mille::plan {
#define GEN_PASS_DEF_LAYOUTSTATES
#include "compiler/plan/Passes.h.inc"
} // namespace mille::plan

using namespace mlir;
using namespace mille::kernel;

namespace {

struct LayOutStates : mille::plan::impl::LayOutStatesBase<LayOutStates> {
  void runOnOperation() override {
    for (mille::plan::AttendedState &state :
         mille::plan::attendedStates(getOperation())) {
      for (RememberOp remember : state.remembers) {
        remember.setPanels(state.panels);
        remember.setHeads(state.heads);
        readInPanels(remember.getResult());
      }
      for (RecallOp recall : state.recalls)
        readInPanels(recall.getResult());
    }
  }

  static void readInPanels(mlir::Value held) {
    for (Operation *user : held.getUsers())
      cast<AttentionOp>(user).setPanels(true);
  }
};

} // namespace
