// How many bytes a row of a head has in a state of bytes, with its steps.
// Must agree with what the runtime writes.
#pragma once
#include "runtime/StatePanels.h"

namespace mille::kernel {

constexpr int64_t stateByteGroup = MILLE_BYTE_GROUP;
inline int64_t keyBytes(int64_t size) { return mille_key_bytes(size); }
inline int64_t valueBytes(int64_t size) { return mille_value_bytes(size); }

} // namespace mille::kernel
