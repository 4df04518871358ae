// Loops of one instruction on registers, for each type. They touch no memory,
// so their speed bounds that of every kernel. Must not measure time.
#pragma once
#include "compiler/driver/machine/Machine.h"
#include "runtime/abi.h"

#include <immintrin.h>

namespace mille {

// Independent chains hide the latency of an instruction: it takes 4 to 6
// cycles, and a core starts two per cycle (vdpbf16ps on Zen 5 needs more than
// 16 chains). AVX2 has sixteen registers, AVX-512 thirty-two; two hold the
// operands.
// clang-format off: its output for these lines is not stable.
#define MILLE_12(STEP)                                                         \
  STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5)                              \
  STEP(6) STEP(7) STEP(8) STEP(9) STEP(10) STEP(11)
#define MILLE_24(STEP)                                                         \
  MILLE_12(STEP)                                                               \
  STEP(12) STEP(13) STEP(14) STEP(15) STEP(16) STEP(17)                        \
  STEP(18) STEP(19) STEP(20) STEP(21) STEP(22) STEP(23)
// clang-format on
#define MILLE_START(i) auto a##i = b;

// Defines a function `name` that runs chains of one instruction, a += b * c, on
// vectors of `bits` bits. The operands' bits are small numbers in f32, bf16 and
// int8, so that nothing becomes infinite or denormal.
#define MILLE_LOOP(name, features, bits, chains, step)                         \
  __attribute__((target(features), noinline)) inline void name(                \
      int64_t steps) {                                                         \
    asm volatile("" ::: "memory"); /* the time is taken around it */           \
    auto b = _mm##bits##_set1_epi32(0x3c013c01), c = b;                        \
    chains(MILLE_START) for (int64_t i = 0; i < steps; ++i) { chains(step) }   \
  }
#define MILLE_F32_512(i)                                                       \
  asm volatile("vfmadd231ps %2, %1, %0" : "+v"(a##i) : "v"(b), "v"(c));
#define MILLE_F32_256(i)                                                       \
  asm volatile("vfmadd231ps %2, %1, %0" : "+x"(a##i) : "x"(b), "x"(c));
#define MILLE_BF16_512(i)                                                      \
  asm volatile("vdpbf16ps %2, %1, %0" : "+v"(a##i) : "v"(b), "v"(c));
#define MILLE_INT8_512(i)                                                      \
  asm volatile("vpdpbusd %2, %1, %0" : "+v"(a##i) : "v"(b), "v"(c));
MILLE_LOOP(f32Of512, "avx512f", 512, MILLE_24, MILLE_F32_512)
MILLE_LOOP(f32Of256, "avx2,fma", 256, MILLE_12, MILLE_F32_256)
MILLE_LOOP(bf16Of512, "avx512f,avx512bf16", 512, MILLE_24, MILLE_BF16_512)
MILLE_LOOP(int8Of512, "avx512f,avx512vnni", 512, MILLE_24, MILLE_INT8_512)

// Four sums hide the latency of a tile product (52 cycles; one starts every
// 16). The operands are numbers as models have them, with all bits in use: with
// zeros a core is 3 % faster.
#define MILLE_TILE_LOOP(name, feature, multiply)                               \
  __attribute__((target("amx-tile," feature), noinline)) inline void name(     \
      int64_t steps) {                                                         \
    alignas(64) static constexpr TileShapes shapes;                            \
    alignas(64) static const TileNumbers numbers;                              \
    _tile_loadconfig(&shapes);                                                 \
    _tile_loadd(4, numbers.halves, 64);                                        \
    _tile_loadd(5, numbers.halves + 512, 64);                                  \
    _tile_loadd(6, numbers.halves + 1024, 64);                                 \
    _tile_loadd(7, numbers.halves + 1536, 64);                                 \
    for (int64_t i = 0; i < steps; ++i) {                                      \
      multiply(0, 4, 6);                                                       \
      multiply(1, 4, 7);                                                       \
      multiply(2, 5, 6);                                                       \
      multiply(3, 5, 7);                                                       \
    }                                                                          \
    _tile_release();                                                           \
  }
struct TileShapes { // for ldtilecfg: eight tiles of 16 rows of 64 bytes
  uint8_t palette = 1, startRow = 0, reserved[14] = {};
  uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
struct TileNumbers { // as bf16: 2^-7 to 2^-5 of either sign; as bytes: any
  uint16_t halves[2048];
  constexpr TileNumbers() : halves() {
    uint32_t random = 1;
    for (uint16_t &half : halves) {
      random = random * 1664525u + 1013904223u;
      half = uint16_t(0x3c00 + (random >> 16 & 0x80ff));
    }
  }
};
MILLE_TILE_LOOP(bf16OfTiles, "amx-bf16", _tile_dpbf16ps)
MILLE_TILE_LOOP(int8OfTiles, "amx-int8", _tile_dpbusd)
#undef MILLE_TILE_LOOP
#undef MILLE_12
#undef MILLE_24
#undef MILLE_START
#undef MILLE_LOOP
#undef MILLE_F32_512
#undef MILLE_F32_256
#undef MILLE_BF16_512
#undef MILLE_INT8_512

// The widest loop for a type on a machine with these features; null if none.
struct PeakLoop {
  void (*run)(int64_t steps) = nullptr;
  int64_t operationsPerStep = 0; // a multiply-add counts as two
};

inline PeakLoop peakLoop(NumberType type, uint64_t features) {
  bool wide = features & MILLE_CPU_AVX512;
  switch (type) {
  case NumberType::f32:
    if (wide)
      return {f32Of512, 24 * 16 * 2};
    if (features & MILLE_CPU_AVX2)
      return {f32Of256, 12 * 8 * 2};
    break;
  case NumberType::bf16:
    if (features & MILLE_CPU_AMX)
      return {bf16OfTiles, 4 * 16 * 16 * 32 * 2};
    if (wide && features & MILLE_CPU_AVX512_BF16)
      return {bf16Of512, 24 * 32 * 2};
    break;
  case NumberType::int8:
    if (features & MILLE_CPU_AMX)
      return {int8OfTiles, 4 * 16 * 16 * 64 * 2};
    if (wide && features & MILLE_CPU_AVX512_VNNI)
      return {int8Of512, 24 * 64 * 2};
    break;
  }
  return {};
}

} // namespace mille
