// The numbers of one block of an encoding, exact: as f32, by the formulas of
// the format. Scales of few bits times a quantum never round; a least value is
// added with one rounding.
#pragma once
#include "dialects/transformer/Encoding.h"

namespace mille {

constexpr int64_t longestBlock = 256;

// blockLength(encoding) numbers from blockBytes(encoding) bytes.
void decodeBlock(Encoding encoding, const char *block, float *into);

// Blocks32.cpp and Blocks256.cpp; null for what readLevels reads.
using DecodeBlock = void (*)(const uint8_t *block, float *into);
DecodeBlock decoderOf32(Encoding encoding);
DecodeBlock decoderOf256(Encoding encoding);

// The 16 levels of IQ4_NL and IQ4_XS, in steps of the scale.
extern const int8_t unevenLevels[16];

} // namespace mille
