// Floats of 8 bits: a sign, 4 bits of an exponent and 3 of a fraction, without
// infinities (f8E4M3FN). Must not use MLIR: kernel generators include this.
#pragma once
#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace mille {

// The largest, the smallest with four bits, and what lies between smaller ones.
constexpr double mostE4m3 = 448, leastNormalE4m3 = 0x1p-6, unitE4m3 = 0x1p-9;

// A double has the same fields so many bits further up, its exponent more.
constexpr int shiftE4m3 = 52 - 3;
constexpr uint64_t biasE4m3 = uint64_t(1023 - 7) << 3;

// Rounds to nearest, ties to even; beyond 448 to 448. Of a NaN 0x7f.
inline uint8_t narrowE4m3(double value) {
  if (std::isnan(value))
    return 0x7f;
  const uint8_t sign = std::signbit(value) ? 0x80 : 0;
  const double size = std::min(std::fabs(value), mostE4m3);
  if (size < leastNormalE4m3)
    return sign | uint8_t(std::nearbyint(size / unitE4m3));
  const auto bits = llvm::bit_cast<uint64_t>(size);
  const uint64_t almostHalf = (uint64_t(1) << (shiftE4m3 - 1)) - 1;
  const uint64_t rounded = bits + almostHalf + (bits >> shiftE4m3 & 1);
  return sign | uint8_t((rounded >> shiftE4m3) - biasE4m3);
}

inline double widenE4m3(uint8_t bits) {
  const uint64_t magnitude = bits & 0x7f;
  const double size =
      magnitude == 0x7f ? NAN
      : magnitude < 8
          ? double(magnitude) * unitE4m3
          : llvm::bit_cast<double>((magnitude + biasE4m3) << shiftE4m3);
  return bits & 0x80 ? -size : size;
}

} // namespace mille
