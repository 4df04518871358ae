// Loads one stored element of any type from little-endian bytes of any
// alignment. Must not know what a tensor means.
#pragma once
#include "dialects/transformer/Encoding.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"

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
