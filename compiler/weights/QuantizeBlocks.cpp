// Quantises numbers to the levels of blocks. Must give the same levels in every
// process: arithmetic is in double, and a step is rounded once to f16.
#include "compiler/weights/Elements.h"
#include "compiler/weights/Levels.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>

using namespace mille;

namespace {

constexpr int64_t blockOfLevels = BlockForm::block;

// The range of an encoding's levels, and the level for the number of the
// largest magnitude if the block cannot be represented exactly.
struct Range {
  int least, most, ofLargest;
};

Range rangeOf(Encoding encoding) {
  switch (encoding) {
  case Encoding::q4_0:
    return {-8, 7, -8};
  case Encoding::q5_0:
    return {-16, 15, -16};
  default:
    return {-128, 127, 127};
  }
}

} // namespace

double mille::roundToF16(double value) {
  constexpr double largest = 65504;
  if (value == 0)
    return 0;
  const int power = std::max(std::ilogb(value), -14);
  const double rounded =
      std::ldexp(std::nearbyint(std::ldexp(value, 10 - power)), power - 10);
  return std::clamp(rounded, -largest, largest);
}

namespace {

// Whether a number > 0 is an f16. The mantissa's bits decide it quickly for
// most numbers.
bool isF16(double value) {
  const auto bits = llvm::bit_cast<uint64_t>(value);
  return (value < 0x1p-14 || (bits & ((uint64_t(1) << 42) - 1)) == 0) &&
         value == roundToF16(value);
}

} // namespace

uint16_t mille::bitsOfF16(double value) {
  if (std::isnan(value))
    return 0x7e00;
  const double magnitude = std::fabs(value);
  const int power = magnitude > 0 ? std::max(std::ilogb(magnitude), -14) : -14;
  const auto mantissa = uint16_t(std::ldexp(magnitude, 10 - power));
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  // The leading 1 of the mantissa adds 1 to the field of the exponent.
  return uint16_t(sign + ((power + 14) << 10) + mantissa);
}

namespace {

// The number of the largest magnitude.
double largestOf(const double *numbers, int64_t count) {
  double largest = 0;
  for (int64_t k = 0; k < count; ++k)
    if (std::fabs(numbers[k]) > std::fabs(largest))
      largest = numbers[k];
  return largest;
}

struct Block {
  double scale;
  int levels[blockOfLevels];
};

// Whether all numbers are exactly levels times this scale. Then fills `block`.
bool holds(const double *numbers, double scale, Range range, Block &block) {
  for (int64_t k = 0; k < blockOfLevels; ++k) {
    const double level = std::nearbyint(numbers[k] / scale);
    if (level * scale != numbers[k] || level < range.least ||
        level > range.most)
      return false;
    block.levels[k] = int(level);
  }
  block.scale = scale;
  return true;
}

// Looks for a scale that represents the block exactly: tries each level, from
// the largest down, for the largest number. The product of an f16 and a level
// has at most 19 bits.
bool isExact(const double *numbers, double largest, Range range, Block &block) {
  int power;
  const double mantissa = std::ldexp(std::frexp(largest, &power), 19);
  if (mantissa != std::nearbyint(mantissa))
    return false;
  for (int level = -range.least; level > 0; --level)
    if (const double scale = std::fabs(largest) / level; isF16(scale))
      if (holds(numbers, scale, range, block) ||
          holds(numbers, -scale, range, block))
        return true;
  return false;
}

// Encodes finite numbers as scale times level.
Block scaled(const double *numbers, Encoding encoding) {
  const Range range = rangeOf(encoding);
  const double largest = largestOf(numbers, blockOfLevels);
  Block block{0, {}};
  if (largest == 0 || isExact(numbers, largest, range, block))
    return block;
  block.scale =
      roundToF16((encoding == Encoding::q8_0 ? std::fabs(largest) : largest) /
                 range.ofLargest);
  for (int64_t k = 0; k < blockOfLevels; ++k)
    block.levels[k] =
        block.scale == 0
            ? 0
            : int(std::clamp(std::nearbyint(numbers[k] / block.scale),
                             double(range.least), double(range.most)));
  return block;
}

void scaled(const double *numbers, Encoding encoding, Levels &levels) {
  const Block block = scaled(numbers, encoding);
  const int offset = blockFormOf(encoding).offset;
  levels.step = bitsOfF16(block.scale);
  for (int64_t k = 0; k < blockOfLevels; ++k)
    levels.levels[k] = uint8_t(block.levels[k] + offset);
}

// The nearest level from 0 to `most` for a number relative to the least value.
uint8_t nearest(double number, double scale, int most) {
  return scale == 0 ? 0
                    : uint8_t(std::clamp(std::nearbyint(number / scale), 0.0,
                                         double(most)));
}

// The least value of a block, and the distance from it to the largest number.
struct Span {
  double least, above;
};

// withZero: extends the span to 0, since formats that share steps need 0 among
// the levels.
Span spanOf(const double *numbers, bool withZero) {
  double low = withZero ? 0 : numbers[0], high = low;
  for (int64_t k = 0; k < blockOfLevels; ++k) {
    low = std::min(low, numbers[k]);
    high = std::max(high, numbers[k]);
  }
  return {low, high - low};
}

// Encodes numbers as scale * level - least.
void aboveLeast(const double *numbers, const BlockForm &form, Levels &levels) {
  const int most = (1 << form.bits) - 1;
  const Span span = spanOf(numbers, /*withZero=*/false);
  const double scale = roundToF16(span.above / most),
               least = roundToF16(-span.least);
  levels.step = bitsOfF16(scale);
  levels.leastStep = bitsOfF16(least);
  for (int64_t k = 0; k < blockOfLevels; ++k)
    levels.levels[k] = nearest(numbers[k] + least, scale, most);
}

// The same, but scales and least values have 6 bits, in shared steps.
void aboveLeastInSteps(const double *numbers, const BlockForm &form,
                       Levels &levels) {
  const int most = (1 << form.bits) - 1, mostScale = 63;
  Span spans[8];
  double largest = 0, lowest = 0;
  for (int b = 0; b < form.blocks; ++b) {
    spans[b] = spanOf(numbers + b * blockOfLevels, /*withZero=*/true);
    largest = std::max(largest, spans[b].above / most);
    lowest = std::max(lowest, -spans[b].least);
  }
  const double step = roundToF16(largest / mostScale),
               leastStep = roundToF16(lowest / mostScale);
  levels.step = bitsOfF16(step);
  levels.leastStep = bitsOfF16(leastStep);
  for (int b = 0; b < form.blocks; ++b) {
    levels.scales[b] = int8_t(nearest(spans[b].above / most, step, mostScale));
    levels.leasts[b] = nearest(-spans[b].least, leastStep, mostScale);
    for (int64_t k = b * blockOfLevels; k < (b + 1) * blockOfLevels; ++k)
      levels.levels[k] = nearest(numbers[k] + leastStep * levels.leasts[b],
                                 step * levels.scales[b], most);
  }
}

// The level whose value is nearest; of two as near, the first.
uint8_t nearestLevel(double value, const BlockForm &form, UnevenLevels uneven) {
  if (!uneven)
    return uint8_t(std::clamp(std::nearbyint(value), double(-form.offset),
                              form.offset - 1.0) +
                   form.offset);
  auto distance = [&](int level) {
    return std::fabs(value - uneven.values[level]);
  };
  int best = 0;
  for (int level = 1; level < 16; ++level)
    if (distance(level) < distance(best))
      best = level;
  return uint8_t(best);
}

// Encodes with signed scales of 6 or 8 bits. Among the numbers of a scale, the
// one of the largest magnitude gets the lowest value, which has no positive
// counterpart.
void scaledInSteps(const double *numbers, const BlockForm &form,
                   Levels &levels) {
  const int64_t parts = form.parts * form.blocks,
                length = blockOfLevels / form.parts;
  const UnevenLevels uneven = unevenLevelsOf(form);
  const double least = valueOf(form, uneven, 0), mostSteps = uneven ? 32 : 128;
  double scales[16];
  for (int64_t p = 0; p < parts; ++p)
    scales[p] = largestOf(numbers + p * length, length) / least;
  const double step = roundToF16(largestOf(scales, parts) / -mostSteps);
  levels.step = bitsOfF16(step);
  for (int64_t p = 0; p < parts; ++p) {
    levels.scales[p] = step == 0
                           ? 0
                           : int8_t(std::clamp(std::nearbyint(scales[p] / step),
                                               -mostSteps, mostSteps - 1));
    const double scale = step * levels.scales[p];
    for (int64_t k = p * length; k < (p + 1) * length; ++k)
      levels.levels[k] =
          nearestLevel(scale == 0 ? 0 : numbers[k] / scale, form, uneven);
  }
}

// Encodes with uneven values. A scale that is a power of two makes the largest
// magnitude 8 to 15 halves, of which there are 8 and 12, as the format's
// standard (OCP Microscaling) has it; another makes it the lowest value.
void scaledUneven(const double *numbers, const BlockForm &form,
                  UnevenLevels uneven, Levels &levels) {
  const double largest = largestOf(numbers, blockOfLevels);
  double scale = 0;
  if (!uneven.hasPowers) {
    scale = roundToF16(largest / uneven.values[0]);
    levels.step = bitsOfF16(scale);
  } else if (largest != 0) {
    scale = std::ldexp(1.0, std::clamp(std::ilogb(largest) - 3, -126, 126));
    levels.step = narrowBf16(float(scale));
  }
  for (int64_t k = 0; k < blockOfLevels; ++k)
    levels.levels[k] =
        nearestLevel(scale == 0 ? 0 : numbers[k] / scale, form, uneven);
}

} // namespace

void mille::quantize(Encoding encoding, const double *numbers, Levels &levels) {
  const BlockForm form = blockFormOf(encoding);
  if (!std::all_of(numbers, numbers + form.numbers(),
                   [](double number) { return std::isfinite(number); })) {
    levels = {};
    levels.step = levels.leastStep = bitsOfF16(NAN);
    if (unevenLevelsOf(form).hasPowers)
      levels.step = 0x7fc0; // a NaN in bf16
  } else if (form.sharesSteps()) {
    form.hasLeast ? aboveLeastInSteps(numbers, form, levels)
                  : scaledInSteps(numbers, form, levels);
  } else if (const UnevenLevels uneven = unevenLevelsOf(form)) {
    scaledUneven(numbers, form, uneven, levels);
  } else {
    form.hasLeast ? aboveLeast(numbers, form, levels)
                  : scaled(numbers, encoding, levels);
  }
}

void mille::numbersOf(Encoding encoding, const Levels &levels, float *into) {
  const BlockForm form = blockFormOf(encoding);
  const UnevenLevels uneven = unevenLevelsOf(form);
  const double step = uneven.hasPowers ? widenBf16(levels.step)
                                       : widenF16(levels.step),
               leastStep = widenF16(levels.leastStep);
  const int64_t length = BlockForm::block / form.parts;
  for (int64_t k = 0; k < form.numbers(); ++k) {
    const int64_t part = k / length, block = k / BlockForm::block;
    double scale = step, least = leastStep;
    if (form.sharesSteps()) {
      scale *= levels.scales[part];
      least *= levels.leasts[block];
    }
    const double product = scale * valueOf(form, uneven, levels.levels[k]);
    into[k] = float(form.hasLeast ? product - least : product);
  }
}
