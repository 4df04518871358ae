// Layers whose queries see the last tokens alone: which rows of a sequence
// their states hold. Must not know what a kernel reads.
#pragma once
#include "runtime/Sizes.h"

struct mille_session;

namespace mille {

// The windows of a session. States of layers with windows hold `rows` rows of a
// sequence, from its row first[sequence] on. All layers drop the same rows:
// those that a query of the widest window no longer sees.
struct StateWindows {
  int64_t reach = 0; // keys of the widest window; 0: all rows are held
  int64_t rows = 0;
  int64_t unit = 1;         // at whose multiples stretches of keys may begin
  int32_t *first = nullptr; // [batch]
  bool *hidden = nullptr;   // [batch], of row `first` while a kernel shows it

  StateWindows() = default;
  StateWindows(const mille_model &model, const Sizes &most, bool onDevice);

  // Whether an entry of a state, or any of its entries, has a window.
  bool hold(const mille_tensor_info &state, int64_t entry) const {
    return reach && state.windows && state.windows[entry];
  }
  bool hold(const mille_tensor_info &state) const;
  // The least `past` but 0 with which a run reads no dropped row.
  int64_t leastPast(int64_t sequence) const {
    return reach && first[sequence] ? first[sequence] + reach : 1;
  }
};

// The bytes of a number that a state holds.
inline int64_t elementBytes(const mille_tensor_info &state) {
  return state.type == MILLE_I8                                ? 1
         : state.type == MILLE_BF16 || state.type == MILLE_F16 ? 2
                                                               : 4;
}

// Drops rows before a run, whose entry and inputs the session has, where its
// tokens find no room after them.
void slideWindows(mille_session &session);
// Whether a state's buffer has a window.
bool isWindow(const mille_session &session, const void *state);

} // namespace mille
