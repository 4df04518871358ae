// This machine's peaks, by loops of our own: f32 multiply-adds in registers and
// reading from memory. Must not use a model's kernels.
#include "compiler/driver/Machine.h"
#include "runtime/abi.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <immintrin.h>
#include <thread>
#include <vector>

using namespace mille;
using Clock = std::chrono::steady_clock;

// Without it the compiler sees that a loop depends on its arguments only, and
// moves it out of the time that is taken.
#define MILLE_HERE asm volatile("" ::: "memory")

// Sixteen independent chains hide the latency of a multiply-add (4 or 5 cycles,
// two a cycle). The values stay finite: x * (1 - 1e-6) + 1e-6 goes to 1.
#define MILLE_CHAINS(STEP)                                                     \
  STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)              \
  STEP(8) STEP(9) STEP(10) STEP(11) STEP(12) STEP(13) STEP(14) STEP(15)

__attribute__((target("avx512f"), noinline)) static float
chains512(int64_t steps) {
  MILLE_HERE;
  __m512 b = _mm512_set1_ps(0.999999f), c = _mm512_set1_ps(1e-6f);
#define START(i) __m512 a##i = _mm512_set1_ps(float(i));
#define STEP(i) a##i = _mm512_fmadd_ps(a##i, b, c);
#define JOIN(i) sum = _mm512_add_ps(sum, a##i);
  MILLE_CHAINS(START)
  for (int64_t i = 0; i < steps; ++i) {
    MILLE_CHAINS(STEP)
  }
  __m512 sum = _mm512_setzero_ps();
  MILLE_CHAINS(JOIN)
  return _mm512_cvtss_f32(sum);
#undef START
#undef STEP
#undef JOIN
}

// Twelve chains: AVX2 has sixteen registers, two hold b and c.
__attribute__((target("avx2,fma"), noinline)) static float
chains256(int64_t steps) {
  MILLE_HERE;
  __m256 b = _mm256_set1_ps(0.999999f), c = _mm256_set1_ps(1e-6f);
#define TWELVE(X)                                                              \
  X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define START(i) __m256 a##i = _mm256_set1_ps(float(i));
#define STEP(i) a##i = _mm256_fmadd_ps(a##i, b, c);
#define JOIN(i) sum = _mm256_add_ps(sum, a##i);
  TWELVE(START)
  for (int64_t i = 0; i < steps; ++i) {
    TWELVE(STEP)
  }
  __m256 sum = _mm256_setzero_ps();
  TWELVE(JOIN)
  return _mm256_cvtss_f32(sum);
#undef START
#undef STEP
#undef JOIN
#undef TWELVE
}

__attribute__((target("avx512f"), noinline)) static float
sum512(const float *from, const float *to) {
  MILLE_HERE;
  __m512 a = _mm512_setzero_ps(), b = a, c = a, d = a;
  for (; from < to; from += 64) {
    a = _mm512_add_ps(a, _mm512_load_ps(from));
    b = _mm512_add_ps(b, _mm512_load_ps(from + 16));
    c = _mm512_add_ps(c, _mm512_load_ps(from + 32));
    d = _mm512_add_ps(d, _mm512_load_ps(from + 48));
  }
  return _mm512_cvtss_f32(_mm512_add_ps(_mm512_add_ps(a, b),
                                        _mm512_add_ps(c, d)));
}

__attribute__((target("avx2"), noinline)) static float
sum256(const float *from, const float *to) {
  MILLE_HERE;
  __m256 a = _mm256_setzero_ps(), b = a, c = a, d = a;
  for (; from < to; from += 32) {
    a = _mm256_add_ps(a, _mm256_load_ps(from));
    b = _mm256_add_ps(b, _mm256_load_ps(from + 8));
    c = _mm256_add_ps(c, _mm256_load_ps(from + 16));
    d = _mm256_add_ps(d, _mm256_load_ps(from + 24));
  }
  return _mm256_cvtss_f32(_mm256_add_ps(_mm256_add_ps(a, b),
                                        _mm256_add_ps(c, d)));
}

static std::atomic<float> sink;

// Runs work(thread) on `threads` threads at once, `repeats` times; the median
// time. A burst is about as long as a model's run takes (16 ms and more): the
// clock that a core holds for one millisecond it does not hold for a hundred.
template <typename Work>
static double medianSeconds(unsigned threads, int repeats, Work work) {
  std::vector<double> seconds;
  for (int r = 0; r < repeats; ++r) {
    std::atomic<unsigned> ready{0};
    auto arriveAndWork = [&](unsigned thread) {
      ++ready;
      while (ready < threads)
        std::this_thread::yield();
      sink = work(thread);
    };
    std::vector<std::thread> others;
    for (unsigned t = 1; t < threads; ++t)
      others.emplace_back(arriveAndWork, t);
    ++ready;
    while (ready < threads)
      std::this_thread::yield();
    auto start = Clock::now();
    sink = work(0);
    for (std::thread &other : others)
      other.join();
    seconds.push_back(
        std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + repeats / 2,
                   seconds.end());
  return seconds[repeats / 2];
}

double mille::measurePeakGflops(unsigned threads) {
  uint64_t features = describeMachine().features;
  bool wide = features & MILLE_CPU_AVX512;
  if (!(features & MILLE_CPU_AVX2))
    return 0;
  constexpr int64_t steps = 8000000;
  double seconds = medianSeconds(threads, 15, [&](unsigned) {
    return wide ? chains512(steps) : chains256(steps);
  });
  double flopsPerStep = wide ? 16 * 16 * 2 : 12 * 8 * 2;
  return threads * flopsPerStep * steps / seconds * 1e-9;
}

double mille::measureReadGigabytes(unsigned threads) {
  uint64_t features = describeMachine().features;
  bool wide = features & MILLE_CPU_AVX512;
  if (!(features & MILLE_CPU_AVX2))
    return 0;
  constexpr size_t floats = 32u << 20; // 128 MB a thread: past most caches
  std::vector<float *> buffers;
  for (unsigned t = 0; t < threads; ++t) {
    auto *buffer =
        static_cast<float *>(std::aligned_alloc(64, floats * sizeof(float)));
    if (!buffer)
      break;
    std::fill_n(buffer, floats, 1.0f);
    buffers.push_back(buffer);
  }
  double rate = 0;
  if (buffers.size() == threads) {
    double seconds = medianSeconds(threads, 5, [&](unsigned thread) {
      const float *from = buffers[thread];
      return wide ? sum512(from, from + floats) : sum256(from, from + floats);
    });
    rate = double(threads) * floats * sizeof(float) / seconds * 1e-9;
  }
  for (float *buffer : buffers)
    std::free(buffer);
  return rate;
}
