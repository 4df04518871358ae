// Numbers as levels times an f16 scale, block by block, and those blocks in
// panels. Must give the same levels in every process: arithmetic is in double,
// the scale rounded once to f16.
#include "compiler/weights/Elements.h"
#include "compiler/weights/Expression.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>

using namespace mille;

namespace {

constexpr int64_t blockOfLevels = 32;

// The levels that an encoding has, and the one that the number of the largest
// magnitude gets where the block's numbers are not exact.
struct Levels {
  int least, most, ofLargest;
};

Levels levelsOf(Encoding encoding) {
  switch (encoding) {
  case Encoding::q4_0:
    return {-8, 7, -8};
  case Encoding::q5_0:
    return {-16, 15, -16};
  default:
    return {-128, 127, 127};
  }
}

// To nearest, ties to even; what is too large becomes the largest f16.
double roundToF16(double value) {
  constexpr double largest = 65504;
  if (value == 0)
    return 0;
  const int power = std::max(std::ilogb(value), -14);
  const double rounded =
      std::ldexp(std::nearbyint(std::ldexp(value, 10 - power)), power - 10);
  return std::clamp(rounded, -largest, largest);
}

// Whether a number > 0 is an f16; for most the mantissa's bits say so.
bool isF16(double value) {
  const auto bits = llvm::bit_cast<uint64_t>(value);
  return (value < 0x1p-14 || (bits & ((uint64_t(1) << 42) - 1)) == 0) &&
         value == roundToF16(value);
}

// Of a value that is an f16, or NaN.
uint16_t bitsOfF16(double value) {
  if (std::isnan(value))
    return 0x7e00;
  const double magnitude = std::fabs(value);
  const int power = magnitude > 0 ? std::max(std::ilogb(magnitude), -14) : -14;
  const auto mantissa = uint16_t(std::ldexp(magnitude, 10 - power));
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  // The mantissa's leading 1 adds 1 to the exponent's field.
  return uint16_t(sign + ((power + 14) << 10) + mantissa);
}

struct Block {
  double scale;
  int levels[blockOfLevels];
};

// Whether all numbers are levels times this scale, exactly.
bool holds(const double *numbers, double scale, Levels range, Block &block) {
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

// Looks for a scale that makes the block exact, from the largest level down. A
// product of an f16 and a level has 19 bits at most.
bool isExact(const double *numbers, double largest, Levels range,
             Block &block) {
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

Block quantize(const double *numbers, Encoding encoding) {
  const Levels range = levelsOf(encoding);
  double largest = 0;
  bool finite = true;
  for (int64_t k = 0; k < blockOfLevels; ++k) {
    finite &= std::isfinite(numbers[k]);
    if (std::fabs(numbers[k]) > std::fabs(largest))
      largest = numbers[k];
  }
  Block block{0, {}};
  if (!finite)
    block.scale = NAN;
  if (!finite || largest == 0 || isExact(numbers, largest, range, block))
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

class InBlocks final : public Expression {
public:
  using Expression::rows;
  InBlocks(ExpressionPtr from, Encoding encoding)
      : value(std::move(from)), encoding(encoding) {
    shape = value->shape;
  }
  void rows(int64_t first, int64_t count, double *into) const override {
    value->rows(first, count, into);
    double *end = into + count * rowSize();
    for (; into != end; into += blockOfLevels) {
      const Block block = quantize(into, encoding);
      for (int64_t k = 0; k < blockOfLevels; ++k)
        into[k] = block.scale * block.levels[k];
    }
  }

private:
  ExpressionPtr value;
  Encoding encoding;
};

// [accumulators * N, K] -> [panels, K / 32, bytes]; a row of this is one panel.
class PackBlocks final : public Expression {
public:
  using Expression::rows;
  PackBlocks(ExpressionPtr from, Encoding encoding, int64_t accumulators)
      : value(std::move(from)), encoding(encoding), accumulators(accumulators),
        outputs(value->shape[0] / accumulators),
        bytes(BlockPanels::columns * blockBytes(encoding)) {
    shape = {(outputs + BlockPanels::columns - 1) / BlockPanels::columns,
             value->shape[1] / blockOfLevels, accumulators * bytes};
  }
  // Bytes as numbers from -128 to 127, as elements of i8.
  void rows(int64_t first, int64_t count, double *into) const override {
    std::vector<uint8_t> panel(rowSize());
    for (int64_t p = first; p < first + count; ++p) {
      fill(p, panel);
      for (uint8_t byte : panel)
        *into++ = int8_t(byte);
    }
  }

private:
  void fill(int64_t number, std::vector<uint8_t> &panel) const {
    std::fill(panel.begin(), panel.end(), 0);
    std::vector<double> row(value->shape[1]);
    for (int64_t a = 0; a < accumulators; ++a)
      for (int64_t j = 0; j < BlockPanels::columns; ++j) {
        const int64_t output = number * BlockPanels::columns + j;
        if (output >= outputs)
          continue;
        value->rows(a * outputs + output, 1, row.data());
        for (int64_t b = 0; b < shape[1]; ++b)
          put(quantize(&row[b * blockOfLevels], encoding), a, j,
              &panel[b * accumulators * bytes]);
      }
  }
  // Row j of accumulator a in a block of 16 rows of each.
  void put(const Block &block, int64_t a, int64_t j, uint8_t *to) const {
    const int offset = -levelsOf(encoding).least;
    auto byte = [&](int64_t group, int64_t k) -> uint8_t & {
      return to[(group * accumulators + a) * 64 + j * 4 + k % 4];
    };
    for (int64_t k = 0; k < blockOfLevels; ++k) {
      const auto level = uint8_t(block.levels[k] + offset);
      if (encoding == Encoding::q8_0) {
        byte(k / 4, k) = level;
        continue;
      }
      byte(k / 4 % 4, k) |= k < 16 ? level & 15 : level << 4;
      if (encoding == Encoding::q5_0)
        byte(4, k) |= level >> 4 << k / 4;
    }
    const int64_t ofScales = BlockPanels::columns * 2;
    const uint16_t scale = bitsOfF16(block.scale);
    std::memcpy(to + accumulators * (bytes - ofScales) + a * ofScales + j * 2,
                &scale, sizeof scale);
  }

  ExpressionPtr value;
  Encoding encoding;
  int64_t accumulators, outputs, bytes;
};

} // namespace

ExpressionPtr mille::inBlocks(ExpressionPtr value, Encoding encoding) {
  return std::make_unique<InBlocks>(std::move(value), encoding);
}

ExpressionPtr mille::packBlocks(ExpressionPtr value, Encoding encoding,
                                int64_t accumulators) {
  if (value->shape.size() == 3) {
    std::vector<ExpressionPtr> entries = entriesOf(std::move(value));
    for (ExpressionPtr &entry : entries)
      entry = packBlocks(std::move(entry), encoding, accumulators);
    return stack(std::move(entries));
  }
  return std::make_unique<PackBlocks>(std::move(value), encoding, accumulators);
}
