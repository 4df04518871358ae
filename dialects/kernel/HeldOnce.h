// Attention whose values are a part of its keys: a state then holds both once.
// Must not know how they lie in memory.
#pragma once
#include "dialects/kernel/Kernel.h"

namespace mille::kernel {

// Whether key and value are one operand, and the value is the first columns of
// its one head.
inline bool valueIsKey(AttentionOp op) {
  return op.getKey() == op.getValue() && op.getKvHeads() == 1 &&
         op.getOffsets()[1] == op.getOffsets()[2] &&
         op.getValueDim() < op.getHeadDim();
}

} // namespace mille::kernel
