// Loads one stored element of any type from little-endian bytes of any
// alignment. Must not know what a tensor means.
#pragma once
#include "dialects/transformer/Encoding.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace mille {

template <typename T> T loadAs(const char *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

inline float widenBf16(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

// Rounds to nearest, ties to even. A NaN stays a NaN.
inline uint16_t narrowBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Rounds to nearest, ties to even; from 65520 on to an infinity.
inline uint16_t narrowF16(float value) {
  return llvm::bit_cast<uint16_t>(static_cast<_Float16>(value));
}

// Every f16 is an f32. This shifts the fields and multiplies by 2^112 to
// correct the exponent, which is exact for subnormals too.
inline float widenF16(uint16_t bits) {
  uint32_t magnitude = uint32_t(bits & 0x7fff) << 13;
  float value;
  std::memcpy(&value, &magnitude, sizeof value);
  value *= 0x1p112f;
  std::memcpy(&magnitude, &value, sizeof value);
  if ((bits & 0x7c00) == 0x7c00) // infinities and NaN
    magnitude |= 0x7f800000;
  magnitude |= uint32_t(bits & 0x8000) << 16;
  std::memcpy(&value, &magnitude, sizeof value);
  return value;
}

// A float of 8 bits without infinities (f8E4M3FN): a sign, 4 bits of an exponent
// and 3 of a fraction, which a double has 49 bits further up.
inline constexpr double mostE4m3 = 448;
inline constexpr double leastNormalE4m3 = 0x1p-6, unitE4m3 = 0x1p-9;
inline constexpr int shiftE4m3 = 52 - 3;
// What the bits of a double's exponent exceed those of e4m3 by.
inline constexpr uint64_t biasE4m3 = uint64_t(1023 - 7) << 3;

// Rounds to nearest, ties to even; beyond 448 to 448. A NaN stays a NaN.
inline uint8_t narrowE4m3(double value) {
  const uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value))
    return sign | 0x7f;
  const double size = std::min(std::fabs(value), mostE4m3);
  if (size < leastNormalE4m3)
    return sign | uint8_t(std::nearbyint(size / unitE4m3));
  const auto bits = llvm::bit_cast<uint64_t>(size);
  const uint64_t half = uint64_t(1) << (shiftE4m3 - 1);
  const uint64_t rounded = bits + half - 1 + (bits >> shiftE4m3 & 1);
  return sign | uint8_t((rounded >> shiftE4m3) - biasE4m3);
}

inline double widenE4m3(uint8_t bits) {
  const uint64_t magnitude = bits & 0x7f;
  const double size =
      magnitude == 0x7f ? NAN
      : magnitude < 8   ? double(magnitude) * unitE4m3
                        : llvm::bit_cast<double>((magnitude + biasE4m3)
                                                 << shiftE4m3);
  return bits & 0x80 ? -size : size;
}

// Calls `use` with a function object that loads one element: as float if float
// holds every value of the type, else as double.
template <typename Use> void withLoader(Encoding type, Use use) {
  switch (type) {
  case Encoding::f64:
    return use([](const char *at) { return loadAs<double>(at); });
  case Encoding::f32:
    return use([](const char *at) { return loadAs<float>(at); });
  case Encoding::f16:
    return use([](const char *at) { return widenF16(loadAs<uint16_t>(at)); });
  case Encoding::bf16:
    return use([](const char *at) { return widenBf16(loadAs<uint16_t>(at)); });
  case Encoding::i64:
    return use([](const char *at) { return double(loadAs<int64_t>(at)); });
  case Encoding::i32:
    return use([](const char *at) { return double(loadAs<int32_t>(at)); });
  case Encoding::i16:
    return use([](const char *at) { return float(loadAs<int16_t>(at)); });
  case Encoding::i8:
    return use([](const char *at) { return float(loadAs<int8_t>(at)); });
  case Encoding::u8:
    return use([](const char *at) { return float(loadAs<uint8_t>(at)); });
  case Encoding::boolean:
    return use([](const char *at) { return float(*at != 0); });
  default:
    llvm_unreachable("a block has no elements by themselves");
  }
}

} // namespace mille
