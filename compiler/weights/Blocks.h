// Decodes one block of an encoding to f32 by the format's formulas. Scales of
// few bits times a quantum are exact in f32; adding a least value rounds once.
// Must not round otherwise.
#pragma once
#include "dialects/transformer/Encoding.h"

namespace mille {

constexpr int64_t longestBlock = 256;

// Decodes blockBytes(encoding) bytes to blockLength(encoding) numbers.
void decodeBlock(Encoding encoding, const char *block, float *into);

} // namespace mille
