// Follows each state from its entry's argument to what reads it.
// Must not rewrite anything.
#include "compiler/plan/AttendedStates.h"
#include "dialects/kernel/Signature.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mille::kernel;

namespace mille::plan {
namespace {

StringRef nameOf(func::FuncOp entry, unsigned argument) {
  auto name = entry.getArgAttrOfType<StringAttr>(argument, "transformer.name");
  return name ? name.getValue() : "";
}

// How attention reads operand `use`: nothing where that is not as keys or as
// values of what it remembers, from column 0, all columns.
std::optional<AttendedState> readingOf(OpOperand &use) {
  auto attention = dyn_cast<AttentionOp>(use.getOwner());
  if (!attention || !attention.getPast())
    return {};
  bool keys = &use == &attention.getKeyMutable();
  if (!keys && &use != &attention.getValueMutable())
    return {};
  int64_t heads = attention.getKvHeads(),
          size = keys ? attention.getHeadDim() : attention.getValueDim();
  auto type = cast<RankedTensorType>(use.get().getType());
  if (attention.getOffsets()[keys ? 1 : 2] ||
      type.getDimSize(1) != heads * size)
    return {};
  AttendedState reading;
  reading.panels = keys ? StatePanels::keys : StatePanels::values;
  reading.heads = heads;
  return reading;
}

// Adds what `remember` writes; false where that is not read as before.
bool addReaders(RememberOp remember, AttendedState &all) {
  all.remembers.push_back(remember);
  if (!remember.getResult() || remember.getPanels())
    return false;
  for (OpOperand &use : remember.getResult().getUses()) {
    auto reading = readingOf(use);
    if (!reading || (all.heads && (reading->heads != all.heads ||
                                   reading->panels != all.panels)))
      return false;
    all.heads = reading->heads;
    all.panels = reading->panels;
  }
  return true;
}

// The uses of a state; nothing where some are not attention's.
std::optional<AttendedState> follow(func::FuncOp entry, BlockArgument state) {
  AttendedState all{entry, state, {}, StatePanels::keys};
  for (Operation *user : state.getUsers()) {
    auto recall = dyn_cast<RecallOp>(user);
    if (!recall)
      return {};
    for (Operation *writer : recall.getResult().getUsers()) {
      auto remember = dyn_cast<RememberOp>(writer);
      if (!remember || !addReaders(remember, all))
        return {};
    }
  }
  return all.heads ? std::optional(all) : std::nullopt;
}

// Whether all that the readers of `state` remember is in `names`.
bool isWhole(const AttendedState &state, const llvm::StringSet<> &names) {
  for (RememberOp remember : state.remembers)
    for (Operation *user : remember.getResult().getUsers()) {
      auto attention = cast<AttentionOp>(user);
      for (Value value : {attention.getKey(), attention.getValue()}) {
        auto other = value.getDefiningOp<RememberOp>();
        auto recall =
            other ? other.getOut().getDefiningOp<RecallOp>() : RecallOp();
        auto argument =
            recall ? dyn_cast<BlockArgument>(recall.getState()) : nullptr;
        if (!argument ||
            !names.contains(nameOf(state.entry, argument.getArgNumber())))
          return false;
      }
    }
  return true;
}

} // namespace

std::vector<AttendedState> attendedStates(ModuleOp module) {
  std::vector<AttendedState> states;
  llvm::StringSet<> names, others;
  module.walk([&](func::FuncOp entry) {
    for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
      auto type = dyn_cast<RankedTensorType>(entry.getArgument(i).getType());
      if (!isState(entry, i) || !type || type.getRank() != 3)
        continue;
      if (auto state = follow(entry, entry.getArgument(i)))
        states.push_back(*state);
      else
        others.insert(nameOf(entry, i));
    }
  });
  auto isOther = [&](const AttendedState &state) {
    return others.contains(nameOf(state.entry, state.state.getArgNumber()));
  };
  for (bool changed = true; changed;) {
    llvm::erase_if(states, isOther);
    names.clear();
    for (const AttendedState &state : states)
      names.insert(nameOf(state.entry, state.state.getArgNumber()));
    changed = false;
    for (const AttendedState &state : states)
      if (!isWhole(state, names))
        changed |=
            others.insert(nameOf(state.entry, state.state.getArgNumber()))
                .second;
  }
  return states;
}

} // namespace mille::plan
