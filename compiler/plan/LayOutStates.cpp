// Keys and values that entries remember in panels, as decode attention reads
// them, and in bytes where that is asked for.
// Must not change a state that anything else reads.
#include "compiler/plan/AttendedStates.h"
#include "compiler/plan/Passes.h"
#include "compiler/plan/StateWindows.h"
#include "dialects/kernel/HeldPanels.h"
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

// The type with another last extent and other elements.
RankedTensorType held(Type type, int64_t columns, Type element) {
  auto shape = llvm::to_vector(cast<ShapedType>(type).getShape());
  shape.back() = columns;
  return RankedTensorType::get(shape, element);
}

struct LayOutStates : mille::plan::impl::LayOutStatesBase<LayOutStates> {
  using LayOutStatesBase::LayOutStatesBase;

  void runOnOperation() override {
    if (!cache.empty() && cache != "int8" && cache != "f16") {
      getOperation().emitError()
          << "cache is '" << cache << "' but must be int8 or f16";
      return signalPassFailure();
    }
    std::vector<AttendedState> states =
        mille::plan::attendedStates(getOperation());
    if (!cache.empty() && states.empty()) {
      getOperation().emitError()
          << "cache is '" << cache
          << "' but no entry remembers keys and values that attention alone "
             "reads";
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
      sayPanels(state);
      if (cache == "int8")
        holdBytes(state);
      if (cache == "f16")
        hold(state, columnsOf(state.state),
             Float16Type::get(state.state.getContext()));
    }
    mille::plan::setWindows(states);
  }

  static void readInPanels(mlir::Value held) {
    for (Operation *user : held.getUsers())
      cast<AttentionOp>(user).setPanels(true);
  }

  // How a session holds it (dialects/kernel/HeldPanels.h).
  static void sayPanels(AttendedState &state) {
    func::FuncOp entry = state.entry;
    const unsigned number = state.state.getArgNumber();
    Builder builder(entry.getContext());
    entry.setArgAttr(number, panelHeadsName,
                     builder.getI64IntegerAttr(state.heads));
    entry.setArgAttr(number, panelsName,
                     StatePanelsAttr::get(entry.getContext(), state.panels));
  }

  static LogicalResult checkBytes(AttendedState &state) {
    if (state.both)
      return state.entry.emitError()
             << "cache is 'int8' but an attention reads one state as keys and "
                "as values";
    const int64_t size = columnsOf(state.state) / state.heads;
    if (state.panels != StatePanels::keys || size % stateByteGroup == 0)
      return success();
    return state.entry.emitError()
           << "cache is 'int8' but a head of keys has " << size
           << " columns, which must be a multiple of " << stateByteGroup;
  }

  static void holdBytes(AttendedState &state) {
    const int64_t size = columnsOf(state.state) / state.heads;
    hold(state, state.heads * rowBytes(size),
         IntegerType::get(state.state.getContext(), 8));
  }

  // Gives the state, and what reads and writes it, so many columns of these
  // elements.
  static void hold(AttendedState &state, int64_t columns, Type element) {
    auto change = [&](mlir::Value value) {
      value.setType(held(value.getType(), columns, element));
    };
    change(state.state);
    for (Operation *user : state.state.getUsers())
      change(cast<RecallOp>(user).getResult());
    for (RememberOp remember : state.remembers)
      change(remember.getResult());
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
