// How many rows windows hold, and how they drop the oldest.
// Must not change a bit of what a query of the window sees.
#include "runtime/StateWindows.h"
#include "runtime/Session.h"
#include "runtime/StateRuns.h"

#include <string.h>

namespace mille {

namespace {
// Attention adds up keys in stretches of so many (mille_kernel.stretch_keys),
// so rows are dropped in such numbers: then no key comes into another stretch.
constexpr int64_t stretch = 512;
// Rows that are kept besides, so that a sequence may go back by so many tokens.
constexpr int64_t spare = 64;

// The state that says which keys show (compiler/entries).
constexpr const char *maskName = "mask";

int64_t widestOf(const mille_model &model) {
  int64_t widest = 0;
  for (uint32_t s = 0; s < model.state_count; ++s) {
    const mille_tensor_info &info = model.states[s];
    for (int64_t e = 0; info.windows && e < info.shape[0]; ++e)
      widest = info.windows[e] > widest ? info.windows[e] : widest;
  }
  return widest;
}

// The rows of the context: of states that have windows, and of others.
int64_t contextOf(const mille_model &model, const Sizes &most) {
  int64_t context = 0;
  for (uint32_t s = 0; s < model.state_count; ++s)
    if (model.states[s].windows)
      context = most.extent(model.states[s].shape[2]);
  return context;
}

// Moves `left` rows to the front of one sequence's memory of an entry, over
// `count` rows; both are whole panels.
void dropRows(const mille_tensor_info &info, char *memory, int64_t rows,
              int64_t count, int64_t left) {
  eachStrip(info, rows, [&](int64_t first, int64_t row) {
    memmove(memory + first, memory + first + count * row, left * row);
  });
}

// The first token of a sequence that the mask shows, of so many, down to a
// multiple of the unit: stretches of keys are counted from there.
int64_t firstShown(const mille_session &session, int64_t sequence,
                   int64_t tokens) {
  const mille_model &model = *session.package->model;
  uint32_t buffer = 0;
  for (uint32_t s = 0; s < model.state_count; ++s) {
    const mille_tensor_info &info = model.states[s];
    if (strcmp(info.name, maskName) == 0 && info.type == MILLE_I32) {
      auto *mask = (const int32_t *)session.states[buffer] +
                   sequence * wholePanels(session.most.extent(info.shape[2]));
      for (int64_t t = 0; t < tokens; ++t)
        if (mask[t])
          return t / session.windows.unit * session.windows.unit;
    }
    buffer += (uint32_t)info.shape[0];
  }
  return 0;
}

// The last row that a window may begin with if `past` rows are held: no query
// behind them, or behind the last of the spare ones, sees it.
int64_t lastFirst(const mille_session &session, int64_t sequence,
                  int64_t past) {
  const int64_t most = past - session.windows.reach - spare,
                shown = firstShown(session, sequence, past),
                over = ((most - shown) % stretch + stretch) % stretch;
  return most - over > 0 ? most - over : 0;
}

void slide(mille_session &session, int64_t sequence, int64_t past) {
  StateWindows &windows = session.windows;
  const int64_t to = lastFirst(session, sequence, past),
                count = to - windows.first[sequence];
  if (count <= 0)
    return;
  const mille_model &model = *session.package->model;
  uint32_t buffer = 0;
  for (uint32_t s = 0; s < model.state_count; ++s) {
    const mille_tensor_info &info = model.states[s];
    for (int64_t e = 0; e < info.shape[0]; ++e, ++buffer)
      if (windows.hold(info, e) && session.states[buffer]) {
        const int64_t bytes = windows.rows * info.shape[3] * elementBytes(info);
        dropRows(info, (char *)session.states[buffer] + sequence * bytes,
                 windows.rows, count, wholePanels(past - to));
      }
  }
  windows.first[sequence] = (int32_t)to;
}

} // namespace

StateWindows::StateWindows(const mille_model &model, const Sizes &most,
                           bool onDevice) {
  const int64_t widest = onDevice ? 0 : widestOf(model),
                held =
                    wholePanels(widest + stretch + spare + most.tokens(model));
  if (!widest || held >= contextOf(model, most))
    return;
  unit = MILLE_PANEL_ROWS;
  for (uint32_t k = 0; k < model.kernel_count; ++k) {
    const mille_kernel &kernel = *model.kernels[k];
    if (!kernel.stretch_keys)
      continue;
    if (kernel.stretch_keys != stretch)
      return;
    while (kernel.key_unit && unit % kernel.key_unit)
      unit += MILLE_PANEL_ROWS;
  }
  reach = widest;
  rows = held;
}

bool StateWindows::hold(const mille_tensor_info &state) const {
  bool any = false;
  for (int64_t e = 0; state.windows && e < state.shape[0]; ++e)
    any = any || hold(state, e);
  return any;
}

void slideWindows(mille_session &session) {
  const mille_entry &entry = *session.entry;
  if (!session.windows.reach || entry.past_input == MILLE_NO_INPUT)
    return;
  auto *past = (const int32_t *)session.inputs[entry.past_input];
  for (int64_t s = 0; s < session.run.batch; ++s) {
    int32_t &first = session.windows.first[s];
    if (past[s] == 0)
      first = 0;
    if (past[s] + session.run.tokens - first > session.windows.rows)
      slide(session, s, past[s]);
  }
}

} // namespace mille
