// Follows each state from its entry's argument to what reads it.
// Must not rewrite anything.
#include "compiler/plan/AttendedStates.h"
#include "dialects/kernel/HeldOnce.h"
#include "dialects/kernel/Signature.h"
#include "llvm/ADT/StringMap.h"
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
  const bool both = valueIsKey(attention);
  int64_t heads = attention.getKvHeads(), size = keys || both
                                                     ? attention.getHeadDim()
                                                     : attention.getValueDim();
  auto type = cast<RankedTensorType>(use.get().getType());
  if (attention.getOffsets()[keys ? 1 : 2] ||
      type.getDimSize(1) != heads * size)
    return {};
  AttendedState reading;
  reading.panels = keys && !both ? StatePanels::keys : StatePanels::values;
  reading.heads = heads;
  reading.both = both;
  return reading;
}

// Adds how a use reads; false where that is not as before.
bool addReading(OpOperand &use, AttendedState &all) {
  auto reading = readingOf(use);
  if (!reading || (all.heads && (reading->heads != all.heads ||
                                 reading->panels != all.panels ||
                                 reading->both != all.both)))
    return false;
  all.heads = reading->heads;
  all.both = reading->both;
  all.panels = reading->panels;
  return true;
}

// Adds what `remember` writes; false where that is not read as before.
bool addReaders(RememberOp remember, AttendedState &all) {
  all.remembers.push_back(remember);
  return remember.getResult() && !remember.getPanels() &&
         llvm::all_of(remember.getResult().getUses(),
                      [&](OpOperand &use) { return addReading(use, all); });
}

// The uses of a state; nothing where some are not attention's. One that no
// attention of the entry reads has 0 heads: another entry reads it.
std::optional<AttendedState> follow(func::FuncOp entry, BlockArgument state) {
  AttendedState all{entry, state, {}, {}, StatePanels::keys};
  for (Operation *user : state.getUsers()) {
    auto recall = dyn_cast<RecallOp>(user);
    if (!recall)
      return {};
    bool reads = false;
    for (OpOperand &use : recall.getResult().getUses()) {
      auto remember = dyn_cast<RememberOp>(use.getOwner());
      if (remember ? !addReaders(remember, all) : !addReading(use, all))
        return {};
      reads |= !remember;
    }
    if (reads)
      all.recalls.push_back(recall);
  }
  return all;
}

// The name of the state that attention reads as `value`; "" if it is none.
StringRef stateOf(func::FuncOp entry, Value value) {
  if (auto remember = value.getDefiningOp<RememberOp>())
    value = remember.getOut();
  auto recall = value.getDefiningOp<RecallOp>();
  auto argument = recall ? dyn_cast<BlockArgument>(recall.getState()) : nullptr;
  return argument ? nameOf(entry, argument.getArgNumber()) : "";
}

// Whether all that is attended with what `state` holds is in `names`.
bool isWhole(const AttendedState &state, const llvm::StringSet<> &names) {
  SmallVector<Value> held;
  for (RememberOp remember : state.remembers)
    held.push_back(remember.getResult());
  for (RecallOp recall : state.recalls)
    held.push_back(recall.getResult());
  for (Value value : held)
    for (Operation *user : value.getUsers()) {
      auto attention = cast<AttentionOp>(user);
      for (Value other : {attention.getKey(), attention.getValue()})
        if (!names.contains(stateOf(state.entry, other)))
          return false;
    }
  return true;
}

// States that an entry writes and does not attend to take heads and panels from
// the entry that does. The names of those that entries read in several ways, or
// that none attends to, go to `others`.
void agree(std::vector<AttendedState> &states, llvm::StringSet<> &others) {
  auto name = [](const AttendedState &state) {
    return nameOf(state.entry, state.state.getArgNumber());
  };
  llvm::StringMap<const AttendedState *> readers;
  for (const AttendedState &state : states)
    if (state.heads)
      readers.try_emplace(name(state), &state);
  for (AttendedState &state : states) {
    const AttendedState *reader = readers.lookup(name(state));
    if (reader && !state.heads) {
      state.heads = reader->heads;
      state.panels = reader->panels;
      state.both = reader->both;
    }
    if (!reader || reader->heads != state.heads ||
        reader->panels != state.panels || reader->both != state.both)
      others.insert(name(state));
  }
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
  agree(states, others);
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
