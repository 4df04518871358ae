// Levels of blocks that are not evenly spaced: each of 16 is the number of a
// value, which the format fixes.
// Must not use MLIR: kernel generators include this.
#pragma once
#include "dialects/transformer/BlockForm.h"

#include <string_view>

namespace mille {

struct UnevenLevels {
  // What each level stands for, in scales. With the form's `offset` it is not
  // negative, as kernels multiply it.
  const int8_t *values = nullptr;
  // Scales are powers of two, of which f16 has too few: a form has them in
  // bf16.
  bool hasPowers = false;

  explicit operator bool() const { return values; }
};

// The values of IQ4_NL and IQ4_XS lie closer where weights are frequent.
inline constexpr int8_t closeNearZero[16] = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
// A sign, two bits of exponent and one of mantissa, in halves.
inline constexpr int8_t smallFloats[16] = {0, 1,  2,  3,  4,  6,  8,  12,
                                           0, -1, -2, -3, -4, -6, -8, -12};

// Of a form's encoding: nothing where levels are evenly spaced.
inline UnevenLevels unevenLevelsOf(const BlockForm &form) {
  const std::string_view name = form.name;
  if (name == "iq4_nl" || name == "iq4_xs")
    return {closeNearZero};
  if (name == "mxfp4")
    return {smallFloats, /*hasPowers=*/true};
  return {};
}

// What a level stands for, in scales.
inline int valueOf(const BlockForm &form, UnevenLevels uneven, int level) {
  return uneven ? uneven.values[level] : level - form.offset;
}

} // namespace mille
