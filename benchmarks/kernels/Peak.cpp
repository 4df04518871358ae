// The most f32 operations a core does in a second: twelve independent chains of
// multiply-adds in registers. No memory, so it is a ceiling for every kernel.
#include "benchmarks/kernels/Peak.h"

#include <chrono>
#include <immintrin.h>

namespace {

using Clock = std::chrono::steady_clock;
constexpr int chains = 12, turns = 4000;

// `asm` keeps the compiler from merging or moving the chains.
__attribute__((target("avx512f"))) void chains512() {
  __m512 sum[chains], a = _mm512_set1_ps(1.0f), b = _mm512_set1_ps(1e-9f);
  for (__m512 &s : sum)
    s = _mm512_set1_ps(1.0f);
  for (int turn = 0; turn < turns; ++turn) {
#pragma clang loop unroll(full)
    for (int i = 0; i < chains; ++i)
      asm volatile("vfmadd213ps %2, %1, %0" : "+v"(sum[i]) : "v"(a), "v"(b));
  }
}

__attribute__((target("avx2,fma"))) void chains256() {
  __m256 sum[chains], a = _mm256_set1_ps(1.0f), b = _mm256_set1_ps(1e-9f);
  for (__m256 &s : sum)
    s = _mm256_set1_ps(1.0f);
  for (int turn = 0; turn < turns; ++turn) {
#pragma clang loop unroll(full)
    for (int i = 0; i < chains; ++i)
      asm volatile("vfmadd213ps %2, %1, %0" : "+x"(sum[i]) : "x"(a), "x"(b));
  }
}

} // namespace

double mille::peakFlops(bool wide) {
  auto start = Clock::now();
  wide ? chains512() : chains256();
  double time = std::chrono::duration<double>(Clock::now() - start).count();
  return 2.0 * chains * turns * (wide ? 16 : 8) / time;
}
