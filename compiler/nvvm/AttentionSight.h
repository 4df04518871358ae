// Which keys a query sees, by its position: what all attention kernels share.
// Must not know how keys are cut into blocks.
#pragma once
#include "compiler/kernels/Spec.h"
#include "compiler/nvvm/Builder.h"

namespace mille::nvvm {

// The first key that a query at a position sees, and the end of its keys;
// absent where all keys are seen. Both grow with the position. prefix: keys
// that every query sees, or absent.
Reg firstSeen(const AttentionSpec &s, Reg position);
Reg endSeen(const AttentionSpec &s, Reg position, Reg keys, Reg prefix);

} // namespace mille::nvvm
