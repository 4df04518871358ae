// How many bytes a row of a head has in a state of bytes, with its step.
// Must agree with what the runtime writes.
#pragma once
#include "runtime/StatePanels.h"

namespace mille::kernel {

constexpr int64_t stateByteGroup = MILLE_KEY_GROUP;
inline int64_t rowBytes(int64_t size) { return mille_row_bytes(size); }

} // namespace mille::kernel
