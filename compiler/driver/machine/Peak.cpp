// Measures this machine's peaks: arithmetic in registers for each type, reading
// from memory, and the round trip of a word between two cores.
// Must not use a model's kernels.
#include "compiler/driver/machine/PeakLoops.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <immintrin.h>
#include <sched.h>
#include <sys/mman.h>
#include <thread>
#include <vector>

using namespace mille;
using Clock = std::chrono::steady_clock;

// Storing results here keeps the compiler from moving a loop, which depends on
// its arguments only, out of the measured time.
#define MILLE_HERE asm volatile("" ::: "memory")

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
  return _mm512_cvtss_f32(
      _mm512_add_ps(_mm512_add_ps(a, b), _mm512_add_ps(c, d)));
}

__attribute__((target("avx2"), noinline)) static float sum256(const float *from,
                                                              const float *to) {
  MILLE_HERE;
  __m256 a = _mm256_setzero_ps(), b = a, c = a, d = a;
  for (; from < to; from += 32) {
    a = _mm256_add_ps(a, _mm256_load_ps(from));
    b = _mm256_add_ps(b, _mm256_load_ps(from + 8));
    c = _mm256_add_ps(c, _mm256_load_ps(from + 16));
    d = _mm256_add_ps(d, _mm256_load_ps(from + 24));
  }
  return _mm256_cvtss_f32(
      _mm256_add_ps(_mm256_add_ps(a, b), _mm256_add_ps(c, d)));
}

static std::atomic<float> sink;

// Runs work(thread) on `threads` threads at once, `repeats` times, and returns
// the median time. `work` should take about as long as a model's run (16 ms and
// more), since a core does not hold the clock of one millisecond for a hundred.
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

double mille::measurePeakGflops(NumberType type, unsigned threads) {
  PeakLoop loop = peakLoop(type, describeMachine().features);
  if (!loop.run)
    return 0;
  constexpr int64_t steps = 4000000;
  double seconds = medianSeconds(threads, 15, [&](unsigned) {
    loop.run(steps);
    return 0.0f;
  });
  return double(threads) * loop.operationsPerStep * steps / seconds * 1e-9;
}

// In large pages, as the runtime's memory is: in a virtual machine of a Zen 4
// pages of 4 KB are read at half the speed.
double mille::measureReadGigabytes(unsigned threads) {
  uint64_t features = describeMachine().features;
  bool wide = features & MILLE_CPU_AVX512;
  if (!(features & MILLE_CPU_AVX2))
    return 0;
  constexpr size_t floats = 32u << 20; // 128 MB a thread: more than most caches
  constexpr size_t hugePage = 2u << 20;
  std::vector<float *> buffers;
  for (unsigned t = 0; t < threads; ++t) {
    auto *buffer = static_cast<float *>(
        std::aligned_alloc(hugePage, floats * sizeof(float)));
    if (!buffer)
      break;
    madvise(buffer, floats * sizeof(float), MADV_HUGEPAGE);
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

// The cores that this process may run on.
static std::vector<int> allowedCores() {
  std::vector<int> cores;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &allowed))
        cores.push_back(core);
  return cores;
}

static void stayOn(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  sched_setaffinity(0, sizeof one, &one); // 0: the calling thread
}

// One core writes a number, and the other writes it back. Both poll, so a round
// trip is two transfers of a cache line. The result is the least of many parts,
// since other work on these cores can only add time.
double mille::measureRoundTripNanoseconds() {
  std::vector<int> cores = allowedCores();
  if (cores.size() < 2)
    return 0;
  constexpr int turns = 5000, parts = 20;
  alignas(64) std::atomic<int> asked{0};
  alignas(64) std::atomic<int> answered{0};
  double least = 0;
  std::thread other([&] {
    stayOn(cores[1]);
    for (int turn = 1; turn <= turns * parts; ++turn) {
      while (asked.load(std::memory_order_acquire) != turn) {
      }
      answered.store(turn, std::memory_order_release);
    }
  });
  std::thread first([&] {
    stayOn(cores[0]);
    for (int part = 0, turn = 0; part < parts; ++part) {
      auto start = Clock::now();
      for (int last = turn + turns; turn < last;) {
        asked.store(++turn, std::memory_order_release);
        while (answered.load(std::memory_order_acquire) != turn) {
        }
      }
      double nanoseconds =
          std::chrono::duration<double, std::nano>(Clock::now() - start)
              .count() /
          turns;
      least = part == 0 ? nanoseconds : std::min(least, nanoseconds);
    }
  });
  first.join();
  other.join();
  return least;
}
