// Decodes the blocks of 32 numbers that no kernel multiplies (ReadLevels.cpp
// has the others). A block has an f16 scale (MXFP4: a power of two), then
// nibbles. Byte j has number j in its low half and number j + 16 in its high
// half.
#include "compiler/weights/Blocks.h"
#include "compiler/weights/Elements.h"
#include "compiler/weights/Levels.h"

#include <cmath>

using namespace mille;

const int8_t mille::unevenLevels[16] = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

namespace {

float half(const uint8_t *at) {
  return widenF16(loadAs<uint16_t>(reinterpret_cast<const char *>(at)));
}

// Calls `value` with each nibble's place in the block and its four bits.
template <typename Value>
void eachNibble(const uint8_t *nibbles, float *into, Value value) {
  for (int j = 0; j < 16; ++j) {
    into[j] = value(j, nibbles[j] & 15);
    into[j + 16] = value(j + 16, nibbles[j] >> 4);
  }
}

void uneven4(const uint8_t *block, float *into) {
  const float scale = half(block);
  eachNibble(block + 2, into,
             [=](int, int bits) { return scale * float(unevenLevels[bits]); });
}

// A number has a sign, two bits of exponent and one of mantissa, and counts
// halves.
void microscaled4(const uint8_t *block, float *into) {
  constexpr float levels[16] = {0, 1,  2,  3,  4,  6,  8,  12,
                                0, -1, -2, -3, -4, -6, -8, -12};
  const int power = block[0] - 128;
  eachNibble(block + 1, into,
             [=](int, int bits) { return std::ldexp(levels[bits], power); });
}

} // namespace

DecodeBlock mille::decoderOf32(Encoding encoding) {
  switch (encoding) {
  case Encoding::iq4_nl:
    return uneven4;
  case Encoding::mxfp4:
    return microscaled4;
  default:
    return nullptr;
  }
}

void mille::decodeBlock(Encoding encoding, const char *block, float *into) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(block);
  if (Levels levels; readLevels(encoding, bytes, levels))
    return numbersOf(encoding, levels, into);
  DecodeBlock decode = blockLength(encoding) == 32 ? decoderOf32(encoding)
                                                   : decoderOf256(encoding);
  decode(bytes, into);
}
