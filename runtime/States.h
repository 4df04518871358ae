// The memory of states: one buffer for each entry of each.
// Must not know what is remembered.
#pragma once
#include "runtime/Session.h"

namespace mille {

// How many buffers all states of a model have.
uint32_t stateEntries(const mille_model &model);

// The rows of a sequence in a state; 0: the session has none.
int64_t sequenceRows(const mille_tensor_info &info, const Sizes &most);

// The most rows of a sequence in a state that the session has; 0: it has none.
int64_t longestState(const mille_model &model, const Sizes &most);

// Places them, zeros, for the session's sizes; none for a state without all
// sizes. Called twice, as a session's layOut is. `device`: of a session on a
// device, else null.
void layOutStates(const mille_model &model, const Sizes &most,
                  const StateWindows &windows, char *slab, void **states,
                  DeviceStates *device, Bytes &sum);

} // namespace mille
