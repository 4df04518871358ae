// Keys and values that entries remember in panels, as decode attention reads
// them, and in bytes where that is asked for.
// Must not change a state that anything else reads.
#include "compiler/plan/AttendedStates.h"
#include "compiler/plan/Passes.h"
#include "compiler/plan/StateWindows.h"
#include "dialects/kernel/StateBytes.h"
#include "mlir/IR/Builders.h"

namespace mille::plan {
#define GEN_PASS_DEF_LAYOUTSTATES
#include "compiler/plan/Passes.h.inc"
} // namespace mille::plan

using namespace mlir;
using namespace mille::kernel;
using mille::plan::AttendedState;
using mille::transformer::ShapeAttr;

namespace {

// The columns of a state, of which the type's last extent says how many.
int64_t columnsOf(BlockArgument state) {
  return cast<ShapedType>(state.getType()).getShape().back();
}

// The type with another last extent, of bytes.
RankedTensorType inBytes(Type type, int64_t columns) {
  auto shape = llvm::to_vector(cast<ShapedType>(type).getShape());
  shape.back() = columns;
  return RankedTensorType::get(shape, IntegerType::get(type.getContext(), 8));
}

struct LayOutStates : mille::plan::impl::LayOutStatesBase<LayOutStates> {
  using LayOutStatesBase::LayOutStatesBase;

  void runOnOperation() override {
    if (!cache.empty() && cache != "int8") {
      getOperation().emitError()
          << "cache is '" << cache << "' but must be int8";
      return signalPassFailure();
    }
    std::vector<AttendedState> states =
        mille::plan::attendedStates(getOperation());
    if (cache == "int8" && states.empty()) {
      getOperation().emitError(
          "cache is 'int8' but no entry remembers keys and "
          "values that attention alone reads");
      return signalPassFailure();
    }
    if (cache == "int8")
      for (AttendedState &state : states)
        if (failed(checkBytes(state)))
          return signalPassFailure();
    for (AttendedState &state : states) {
      for (RememberOp remember : state.remembers) {
        remember.setPanels(state.panels);
        remember.setHeads(state.heads);
        readInPanels(remember.getResult());
      }
      for (RecallOp recall : state.recalls)
        readInPanels(recall.getResult());
      if (cache == "int8")
        holdBytes(state);
    }
    mille::plan::setWindows(states);
  }

  static void readInPanels(mlir::Value held) {
    for (Operation *user : held.getUsers())
      cast<AttentionOp>(user).setPanels(true);
  }

  static LogicalResult checkBytes(AttendedState &state) {
    const int64_t size = columnsOf(state.state) / state.heads;
    if (state.panels != StatePanels::keys || size % stateByteGroup == 0)
      return success();
    return state.entry.emitError()
           << "cache is 'int8' but a head of keys has " << size
           << " columns, which must be a multiple of " << stateByteGroup;
  }

  // Gives the state, and what reads and writes it, the type of bytes.
  static void holdBytes(AttendedState &state) {
    const int64_t size = columnsOf(state.state) / state.heads;
    const int64_t columns = state.heads * rowBytes(size);
    mlir::Value argument = state.state;
    argument.setType(inBytes(argument.getType(), columns));
    for (Operation *user : argument.getUsers()) {
      mlir::Value held = cast<RecallOp>(user).getResult();
      held.setType(inBytes(held.getType(), columns));
    }
    for (RememberOp remember : state.remembers)
      remember.getResult().setType(
          inBytes(remember.getResult().getType(), columns));
    func::FuncOp entry = state.entry;
    const unsigned number = state.state.getArgNumber();
    if (auto shape =
            entry.getArgAttrOfType<ShapeAttr>(number, "transformer.shape")) {
      auto extents = llvm::to_vector(shape.getShape());
      extents.back() = mille::ShapeExtent(columns);
      entry.setArgAttr(number, "transformer.shape",
                       ShapeAttr::get(entry.getContext(), extents));
    }
    entry.setType(FunctionType::get(entry.getContext(),
                                    entry.getBody().getArgumentTypes(),
                                    entry.getResultTypes()));
  }
};

} // namespace
