// One row's numbers as kernels multiply them: levels, scales and least values,
// from blocks that are stored or from numbers. Must not place them in panels.
#pragma once
#include "dialects/transformer/Encoding.h"

namespace mille {

// As many numbers as share steps (BlockForm::numbers).
struct Levels {
  static constexpr int64_t most = 256;
  uint8_t levels[most]; // `offset` of the form above what they stand for
  int8_t scales[16];    // part by part, in steps; 0 to 63 or -128 to 127
  uint8_t leasts[8];    // in their steps
  uint16_t step = 0, leastStep = 0; // f16
};

// What a stored block holds. False where an encoding has another form: never
// for one that isMultiplied.
bool readLevels(Encoding encoding, const uint8_t *block, Levels &levels);

// The nearest that an encoding has. All NaN where a number is not finite.
void quantize(Encoding encoding, const double *numbers, Levels &levels);

// The numbers that levels stand for, each rounded once to f32.
void numbersOf(Encoding encoding, const Levels &levels, float *into);

} // namespace mille
