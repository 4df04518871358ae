// Blocks of 32 numbers: an f16 scale first (MXFP4: a power of two), then maybe
// a least value and fifth bits, then nibbles or bytes. Byte j of the nibbles
// holds number j in its low half, and number j + 16 in its high half.
#include "compiler/weights/Blocks.h"
#include "compiler/weights/Elements.h"

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

void q4Plain(const uint8_t *block, float *into) {
  const float scale = half(block);
  eachNibble(block + 2, into,
             [=](int, int bits) { return scale * float(bits - 8); });
}

void q4WithLeast(const uint8_t *block, float *into) {
  const float scale = half(block), least = half(block + 2);
  eachNibble(block + 4, into, [=](int, int bits) {
    return float(double(scale) * bits + double(least));
  });
}

void q5Plain(const uint8_t *block, float *into) {
  const float scale = half(block);
  const auto fifth =
      loadAs<uint32_t>(reinterpret_cast<const char *>(block + 2));
  eachNibble(block + 6, into, [=](int place, int bits) {
    return scale * float((bits | int(fifth >> place & 1) << 4) - 16);
  });
}

void q5WithLeast(const uint8_t *block, float *into) {
  const float scale = half(block), least = half(block + 2);
  const auto fifth =
      loadAs<uint32_t>(reinterpret_cast<const char *>(block + 4));
  eachNibble(block + 8, into, [=](int place, int bits) {
    const int level = bits | int(fifth >> place & 1) << 4;
    return float(double(scale) * level + double(least));
  });
}

void q8Plain(const uint8_t *block, float *into) {
  const float scale = half(block);
  for (int j = 0; j < 32; ++j)
    into[j] = scale * float(int8_t(block[2 + j]));
}

void uneven4(const uint8_t *block, float *into) {
  const float scale = half(block);
  eachNibble(block + 2, into,
             [=](int, int bits) { return scale * float(unevenLevels[bits]); });
}

// Sign, two bits of exponent, one of mantissa; in halves.
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
  case Encoding::q4_0:
    return q4Plain;
  case Encoding::q4_1:
    return q4WithLeast;
  case Encoding::q5_0:
    return q5Plain;
  case Encoding::q5_1:
    return q5WithLeast;
  case Encoding::q8_0:
    return q8Plain;
  case Encoding::iq4_nl:
    return uneven4;
  case Encoding::mxfp4:
    return microscaled4;
  default:
    return nullptr;
  }
}

void mille::decodeBlock(Encoding encoding, const char *block, float *into) {
  DecodeBlock decode = blockLength(encoding) == 32 ? decoderOf32(encoding)
                                                   : decoderOf256(encoding);
  decode(reinterpret_cast<const uint8_t *>(block), into);
}
