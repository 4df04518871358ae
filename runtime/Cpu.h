// What the processor can do, in the words of abi.h.
// Must not decide what runs; Package does.
#pragma once
#include "runtime/abi.h"

namespace mille {

// Names of features, "avx2, avx512_bf16"; cut where there is no room.
void nameFeatures(uint64_t features, char *text, size_t size);

} // namespace mille
