// Blocks of 256 numbers: an f16 scale (and one of minima), scales of 16 or 32
// numbers in 4 to 8 bits, then the numbers' bits, in planes.
#include "compiler/weights/Blocks.h"
#include "compiler/weights/Elements.h"

using namespace mille;

namespace {

float half(const uint8_t *at) {
  return widenF16(loadAs<uint16_t>(reinterpret_cast<const char *>(at)));
}

// scale * level - least, rounded once. Products are exact in double.
float above(double scale, int level, double least) {
  return float(scale * level - least);
}

// 16 bytes of scale and least (4 bits each, of 16 numbers), 64 bytes that hold
// 4 numbers each, 32 apart; scale, minima's scale.
void q2(const uint8_t *block, float *into) {
  const uint8_t *bits = block + 16;
  const double scale = half(block + 80), minima = half(block + 82);
  for (int i = 0; i < 256; ++i) {
    const uint8_t part = block[i / 16];
    const int plane = i / 32 % 4, byte = i / 128 * 32 + i % 32;
    into[i] = above(scale * (part & 15), bits[byte] >> 2 * plane & 3,
                    minima * (part >> 4));
  }
}

// Scale i of 16: low 4 bits in byte i % 8, upper 2 in byte 8 + i % 4.
int scaleOf6Bits(const uint8_t *packed, int i) {
  const int low = i < 8 ? packed[i] & 15 : packed[i - 8] >> 4;
  return low | (packed[8 + i % 4] >> 2 * (i / 4) & 3) << 4;
}

// 32 bytes of third bits (clear: 4 less), 64 of the lower two, 12 of scales.
void q3(const uint8_t *block, float *into) {
  const uint8_t *bits = block + 32, *scales = block + 96;
  const float scale = half(block + 108);
  for (int i = 0; i < 256; ++i) {
    const int plane = i / 32 % 4, byte = i / 128 * 32 + i % 32;
    const int third = block[i % 32] >> (i / 32) & 1;
    const int level = (bits[byte] >> 2 * plane & 3) - (third ? 0 : 4);
    into[i] = scale * float(scaleOf6Bits(scales, i / 16) - 32) * float(level);
  }
}

// Scale and least of 32 numbers, 6 bits each, of 8 in 12 bytes.
struct ScaleAndLeast {
  int scale, least;
};
ScaleAndLeast scaleAndLeast(const uint8_t *packed, int i) {
  if (i < 4)
    return {packed[i] & 63, packed[i + 4] & 63};
  return {(packed[i + 4] & 15) | (packed[i - 4] >> 6) << 4,
          (packed[i + 4] >> 4) | (packed[i] >> 6) << 4};
}

// Scale, minima's scale, 12 bytes of scales; `fifth`: 32 bytes of fifth bits,
// of which bit j belongs to part j; nibbles of 64 numbers in 32 bytes.
void q4Or5(const uint8_t *block, const uint8_t *fifth, const uint8_t *nibbles,
           float *into) {
  const double scale = half(block), minima = half(block + 2);
  for (int part = 0; part < 8; ++part) {
    const ScaleAndLeast six = scaleAndLeast(block + 4, part);
    for (int i = 0; i < 32; ++i) {
      const uint8_t byte = nibbles[part / 2 * 32 + i];
      int level = part % 2 ? byte >> 4 : byte & 15;
      if (fifth)
        level |= (fifth[i] >> part & 1) << 4;
      *into++ = above(scale * six.scale, level, minima * six.least);
    }
  }
}

void q4(const uint8_t *block, float *into) {
  q4Or5(block, nullptr, block + 16, into);
}

void q5(const uint8_t *block, float *into) {
  q4Or5(block, block + 16, block + 48, into);
}

// 128 bytes of low nibbles, 64 of upper pairs of bits, 16 scales of 8 bits.
void q6(const uint8_t *block, float *into) {
  const uint8_t *upper = block + 128, *scales = block + 192;
  const float scale = half(block + 208);
  for (int i = 0; i < 256; ++i) {
    const int most = i / 128, plane = i / 32 % 4, place = i % 32;
    const uint8_t byte = block[most * 64 + plane % 2 * 32 + place];
    const int low = plane < 2 ? byte & 15 : byte >> 4;
    const int high = upper[most * 32 + place] >> 2 * plane & 3;
    into[i] =
        scale * float(int8_t(scales[i / 16])) * float((low | high << 4) - 32);
  }
}

// Scale, 2 bytes of upper and 4 of lower bits of 8 scales, nibbles of levels.
void uneven4(const uint8_t *block, float *into) {
  const float scale = half(block);
  for (int part = 0; part < 8; ++part) {
    const int low = block[4 + part / 2] >> 4 * (part % 2) & 15;
    const int high = block[2 + part / 4] >> 2 * (part % 4) & 3;
    const float own = scale * float((low | high << 4) - 32);
    const uint8_t *nibbles = block + 8 + part * 16;
    for (int j = 0; j < 16; ++j) {
      into[part * 32 + j] = own * float(unevenLevels[nibbles[j] & 15]);
      into[part * 32 + j + 16] = own * float(unevenLevels[nibbles[j] >> 4]);
    }
  }
}

} // namespace

DecodeBlock mille::decoderOf256(Encoding encoding) {
  switch (encoding) {
  case Encoding::q2_k:
    return q2;
  case Encoding::q3_k:
    return q3;
  case Encoding::q4_k:
    return q4;
  case Encoding::q5_k:
    return q5;
  case Encoding::q6_k:
    return q6;
  case Encoding::iq4_xs:
    return uneven4;
  default:
    return nullptr;
  }
}
