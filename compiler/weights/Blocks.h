// Decodes one block of an encoding to f32 by the format's formulas. Scales of
// few bits times a quantum are exact in f32; adding a least value rounds once.
// Must not round otherwise.
#pragma once
#include "dialects/transformer/Encoding.h"

namespace mille {

constexpr int64_t longestBlock = 256;

// Decodes blockBytes(encoding) bytes to blockLength(encoding) numbers.
void decodeBlock(Encoding encoding, const char *block, float *into);

// Decoders in Blocks32.cpp and Blocks256.cpp. Null for an encoding that
// readLevels reads.
using DecodeBlock = void (*)(const uint8_t *block, float *into);
DecodeBlock decoderOf32(Encoding encoding);
DecodeBlock decoderOf256(Encoding encoding);

// The 16 levels of IQ4_NL and IQ4_XS, in steps of the scale.
extern const int8_t unevenLevels[16];

} // namespace mille
