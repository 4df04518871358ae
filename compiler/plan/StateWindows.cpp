// Reads the windows of the attentions that read a state.
// Must not count on a window where keys are known by their places.
#include "compiler/plan/StateWindows.h"
#include "dialects/kernel/HeldPanels.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mille::kernel;

namespace mille::plan {
namespace {

constexpr int64_t unread = -1;

StringRef nameOf(const AttendedState &state) {
  func::FuncOp entry = state.entry;
  return entry
      .getArgAttrOfType<StringAttr>(state.state.getArgNumber(),
                                    "transformer.name")
      .getValue();
}

// The entries of the state that a recall gives: one, or in a body of the layer
// loop one for each layer that runs it.
SmallVector<int64_t> entriesOf(RecallOp recall) {
  const int64_t index = recall.getIndex();
  auto layers = recall->getParentOfType<LayersOp>();
  if (!layers)
    return {index};
  Region *body = recall->getParentRegion();
  while (body->getParentOp() != layers)
    body = body->getParentOp()->getParentRegion();
  SmallVector<int64_t> entries;
  for (auto [layer, runs] : llvm::enumerate(layers.getBodies()))
    if (runs == body->getRegionNumber())
      entries.push_back(index + int64_t(layer));
  return entries;
}

// The keys that a query sees, or 0 where it may see all, or where dropped keys
// would change the places of others.
int64_t windowOf(AttentionOp attention) {
  auto window = attention.getWindow();
  const bool byPlace = attention.getKeyHeadBias() || attention.getBias() ||
                       attention.getSlopes() || attention.getSegments() ||
                       attention.getChunk();
  return window && attention.getCausal() && !byPlace ? (*window)[0] : 0;
}

// The windows of the entries that attention reads as `held`.
using Windows = SmallVector<int64_t>;
void addReaders(RecallOp recall, mlir::Value held, Windows &windows) {
  for (Operation *user : held.getUsers()) {
    auto attention = dyn_cast<AttentionOp>(user);
    if (!attention)
      continue;
    const int64_t own = windowOf(attention);
    for (int64_t entry : entriesOf(recall)) {
      int64_t &known = windows[entry];
      known = known == 0 || own == 0 ? 0 : std::max(known, own);
    }
  }
}

Windows windowsOf(const AttendedState &state) {
  Windows windows(cast<ShapedType>(state.state.getType()).getDimSize(0),
                  unread);
  for (RecallOp recall : state.recalls)
    addReaders(recall, recall.getResult(), windows);
  for (RememberOp remember : state.remembers) {
    if (!remember.getPast())
      return {};
    addReaders(remember.getOut().getDefiningOp<RecallOp>(),
               remember.getResult(), windows);
  }
  return windows;
}

bool allUnread(const Windows &windows) {
  return llvm::all_of(windows, [](int64_t keys) { return keys == unread; });
}

// The windows of all states, by their names; nothing where entries disagree.
// The states of one layer have the same number there.
std::optional<llvm::StringMap<Windows>> agreed(ArrayRef<AttendedState> states) {
  llvm::StringMap<Windows> all;
  for (const AttendedState &state : states) {
    Windows windows = windowsOf(state);
    if (windows.empty())
      return {};
    if (allUnread(windows))
      continue;
    auto [known, fresh] = all.try_emplace(nameOf(state), windows);
    if (!fresh && known->second != windows)
      return {};
  }
  const Windows *first = nullptr;
  for (auto &named : all) { // whether all are equal: any order
    if (first && *first != named.second)
      return {};
    first = &named.second;
  }
  return all;
}

} // namespace

void setWindows(ArrayRef<AttendedState> states) {
  auto all = agreed(states);
  for (const AttendedState &state : states) {
    if (!all || !all->count(nameOf(state)))
      continue;
    Windows windows = all->lookup(nameOf(state));
    for (int64_t &keys : windows)
      keys = std::max<int64_t>(keys, 0);
    if (llvm::all_of(windows, [](int64_t keys) { return keys == 0; }))
      continue;
    func::FuncOp entry = state.entry;
    entry.setArgAttr(state.state.getArgNumber(), windowsName,
                     Builder(entry.getContext()).getDenseI64ArrayAttr(windows));
  }
}

} // namespace mille::plan
