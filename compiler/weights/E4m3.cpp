// Floats of 8 bits: 4 of an exponent, 3 of a fraction, no infinities.
#include "compiler/weights/Elements.h"

#include <algorithm>
#include <cmath>

using namespace mille;

static constexpr int fractionBitsOfE4m3 = 3, biasOfE4m3 = 7;
static constexpr uint8_t nanOfE4m3 = 0x7f, signOfE4m3 = 0x80;

uint8_t mille::narrowE4m3(double value) {
  if (std::isnan(value))
    return nanOfE4m3;
  const uint8_t sign = std::signbit(value) ? signOfE4m3 : 0;
  const double size = std::min(std::fabs(value), mostE4m3);
  if (size == 0)
    return sign;
  int exponent;
  std::frexp(size, &exponent); // 2^(exponent - 1) <= size < 2^exponent
  // The distance of the numbers there; below 2^-6 that of the smallest.
  const int unit = std::max(exponent - 1, 1 - biasOfE4m3) - fractionBitsOfE4m3;
  const int steps = int(std::nearbyint(std::ldexp(size, -unit)));
  // Numbers follow each other as their bits do.
  const int before = unit + fractionBitsOfE4m3 + biasOfE4m3 - 1;
  return sign | uint8_t((before << fractionBitsOfE4m3) + steps);
}

double mille::widenE4m3(uint8_t bits) {
  const int rest = bits & nanOfE4m3, field = rest >> fractionBitsOfE4m3;
  if (rest == nanOfE4m3)
    return NAN;
  constexpr int one = 1 << fractionBitsOfE4m3;
  const double size =
      std::ldexp(rest % one + (field ? one : 0),
                 std::max(field, 1) - biasOfE4m3 - fractionBitsOfE4m3);
  return bits & signOfE4m3 ? -size : size;
}
