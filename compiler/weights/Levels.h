// Converts stored blocks or numbers to the form that kernels multiply: levels,
// scales and least values. Must not place them in panels.
#pragma once
#include "dialects/transformer/Encoding.h"
#include "dialects/transformer/UnevenLevels.h"

namespace mille {

// The levels of as many numbers as share steps (BlockForm::numbers).
struct Levels {
  static constexpr int64_t most = 256;
  uint8_t levels[most]; // valueOf says what they stand for
  int8_t scales[16];    // of each part, in steps; 0 to 63 or -128 to 127
  uint8_t leasts[8];    // least values, in leastSteps
  uint16_t step = 0, leastStep = 0; // f16; powers: bf16
};

// Reads a stored block. False if the encoding has another form, which is never
// so if isMultiplied.
bool readLevels(Encoding encoding, const uint8_t *block, Levels &levels);

// Rounds numbers to the nearest levels of an encoding. If a number is not
// finite, the result decodes to NaN only, or to infinities where the encoding
// has no NaN.
void quantize(Encoding encoding, const double *numbers, Levels &levels);

// The same, but errors of columns that matter more are smaller: each counts by
// its number in `importance`, none of which is negative.
void quantize(Encoding encoding, const double *numbers,
              const double *importance, Levels &levels);

// The nearest f16, ties to even; larger numbers become the largest. The bits of
// a value that is an f16 or NaN.
double roundToF16(double value);
uint16_t bitsOfF16(double value);

// Decodes levels to numbers, each rounded once to f32.
void numbersOf(Encoding encoding, const Levels &levels, float *into);

} // namespace mille
