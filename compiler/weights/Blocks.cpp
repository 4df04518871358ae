// Decodes blocks. ReadLevels.cpp reads those that kernels multiply; here are
// the others, of 256 numbers: scales of 4 to 6 bits for each 16 of them, and
// their bits in planes.
#include "compiler/weights/Blocks.h"
#include "compiler/weights/Elements.h"
#include "compiler/weights/Levels.h"

using namespace mille;

namespace {

float half(const uint8_t *at) {
  return widenF16(loadAs<uint16_t>(reinterpret_cast<const char *>(at)));
}

// scale * level - least, rounded once. Products are exact in double.
float above(double scale, int level, double least) {
  return float(scale * level - least);
}

// A block: 16 bytes, each with the scale and the least value of 16 numbers (4
// bits each); 64 bytes, each with 4 numbers that are 32 apart; the scale; the
// scale of the minima.
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

// Scale i of 16: its low 4 bits are in byte i % 8, its upper 2 in byte 8 + i %
// 4.
int scaleOf6Bits(const uint8_t *packed, int i) {
  const int low = i < 8 ? packed[i] & 15 : packed[i - 8] >> 4;
  return low | (packed[8 + i % 4] >> 2 * (i / 4) & 3) << 4;
}

// A block: 32 bytes of third bits (a clear bit subtracts 4), 64 bytes of the
// lower two bits, 12 bytes of scales, the scale.
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

} // namespace

void mille::decodeBlock(Encoding encoding, const char *block, float *into) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(block);
  if (Levels levels; readLevels(encoding, bytes, levels))
    return numbersOf(encoding, levels, into);
  encoding == Encoding::q2_k ? q2(bytes, into) : q3(bytes, into);
}
