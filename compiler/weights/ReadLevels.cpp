// Reads levels, scales and least values from stored blocks. Must only move
// bits.
#include "compiler/weights/Blocks.h"
#include "compiler/weights/Elements.h"
#include "compiler/weights/Levels.h"

#include <cstring>

using namespace mille;

namespace {

uint16_t bitsAt(const uint8_t *at) {
  return loadAs<uint16_t>(reinterpret_cast<const char *>(at));
}

// Reads the nibbles of 32 numbers. Numbers k and k + 16 share a byte.
void readNibbles(const uint8_t *from, uint8_t *levels) {
  for (int k = 0; k < 16; ++k) {
    levels[k] = from[k] & 15;
    levels[k + 16] = from[k] >> 4;
  }
}

// Adds the fifth bit of each of 32 numbers.
void addFifth(const uint8_t *from, uint8_t *levels) {
  for (int k = 0; k < 32; ++k)
    levels[k] |= (from[k / 8] >> k % 8 & 1) << 4;
}

// The file's formula adds the least value; that of Levels subtracts it.
uint16_t negated(uint16_t f16) { return f16 ^ 0x8000; }

// The bf16 of 2^(byte - 128); the smallest two have fewer bits.
uint16_t powerOf(uint8_t byte) {
  return byte < 2 ? uint16_t(0x20 << byte) : uint16_t((byte - 1) << 7);
}

// A block of 32: an f16 scale, perhaps an f16 least value, perhaps 4 bytes of
// fifth bits, then nibbles or bytes.
void read32(const BlockForm &form, const uint8_t *block, Levels &levels) {
  levels.step = bitsAt(block);
  block += 2;
  if (form.hasLeast) {
    levels.leastStep = negated(bitsAt(block));
    block += 2;
  }
  if (form.bits == 8) {
    for (int k = 0; k < 32; ++k)
      levels.levels[k] = block[k] ^ 0x80;
    return;
  }
  readNibbles(block + (form.bits == 5 ? 4 : 0), levels.levels);
  if (form.bits == 5)
    addFifth(block, levels.levels);
}

// The scale and the least value of part i, 6 bits each. The 8 parts have 12
// bytes for them.
struct ScaleAndLeast {
  int scale, least;
};
ScaleAndLeast scaleAndLeast(const uint8_t *packed, int i) {
  if (i < 4)
    return {packed[i] & 63, packed[i + 4] & 63};
  return {(packed[i + 4] & 15) | (packed[i - 4] >> 6) << 4,
          (packed[i + 4] >> 4) | (packed[i] >> 6) << 4};
}

// A block of 256: the f16 steps of scales and of least values, 12 bytes of
// scales and least values, with 5 bits 32 bytes of fifth bits (bit j of each is
// for part j), then nibbles, 64 numbers in 32 bytes.
void read4Or5(const BlockForm &form, const uint8_t *block, Levels &levels) {
  levels.step = bitsAt(block);
  levels.leastStep = bitsAt(block + 2);
  const uint8_t *fifth = block + 16, *nibbles = fifth + (form.bits == 5) * 32;
  for (int part = 0; part < 8; ++part) {
    const ScaleAndLeast six = scaleAndLeast(block + 4, part);
    levels.scales[part] = int8_t(six.scale);
    levels.leasts[part] = uint8_t(six.least);
    for (int k = 0; k < 32; ++k) {
      const uint8_t byte = nibbles[part / 2 * 32 + k];
      uint8_t level = part % 2 ? byte >> 4 : byte & 15;
      if (form.bits == 5)
        level |= (fifth[k] >> part & 1) << 4;
      levels.levels[part * 32 + k] = level;
    }
  }
}

// A block of 256: 128 bytes with the numbers' low nibbles, 64 with their upper
// two bits, 16 scales of 8 bits, the f16 step.
void read6(const uint8_t *block, Levels &levels) {
  levels.step = bitsAt(block + 208);
  std::memcpy(levels.scales, block + 192, sizeof levels.scales);
  const uint8_t *upper = block + 128;
  for (int k = 0; k < 256; ++k) {
    const int half = k / 128, plane = k / 32 % 4, place = k % 32;
    const uint8_t byte = block[half * 64 + plane % 2 * 32 + place];
    const int low = plane < 2 ? byte & 15 : byte >> 4;
    const int high = upper[half * 32 + place] >> 2 * plane & 3;
    levels.levels[k] = uint8_t(low | high << 4);
  }
}

// A block of 256: the f16 step of scales, 2 bytes with the upper and 4 with the
// lower bits of 8 scales, then nibbles.
void readUneven(const uint8_t *block, Levels &levels) {
  levels.step = bitsAt(block);
  for (int part = 0; part < 8; ++part) {
    const int low = block[4 + part / 2] >> 4 * (part % 2) & 15;
    const int high = block[2 + part / 4] >> 2 * (part % 4) & 3;
    levels.scales[part] = int8_t((low | high << 4) - 32);
    readNibbles(block + 8 + part * 16, levels.levels + part * 32);
  }
}

} // namespace

bool mille::readLevels(Encoding encoding, const uint8_t *block,
                       Levels &levels) {
  const BlockForm form = blockFormOf(encoding);
  if (!form)
    return false;
  const UnevenLevels uneven = unevenLevelsOf(form);
  if (uneven.hasPowers) {
    levels.step = powerOf(*block);
    readNibbles(block + 1, levels.levels);
  } else if (!form.sharesSteps())
    read32(form, block, levels);
  else if (form.bits == 6)
    read6(block, levels);
  else if (uneven)
    readUneven(block, levels);
  else
    read4Or5(form, block, levels);
  return true;
}
