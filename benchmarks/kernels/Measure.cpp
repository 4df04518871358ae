// The ceilings beside which a kernel is timed, and the counters that say how
// near it comes to them.
#include "benchmarks/kernels/Measure.h"
#include "compiler/driver/machine/PeakLoops.h"
#include "runtime/Memory.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <numeric>

using namespace mille;
using namespace mille::benchmarks;
using Clock = std::chrono::steady_clock;

MadeKernel benchmarks::made(const std::string &text, const Target &isa,
                            int64_t rows) {
  struct Made {
    std::unique_ptr<test::ParsedKernel> parsed;
    mille_kernel_function few = nullptr, many = nullptr;
  };
  static std::map<std::string, Made> all;
  Made &entry = all[text + isa.name];
  if (!entry.parsed)
    entry.parsed = std::make_unique<test::ParsedKernel>(text);
  bool isFew = rows <= int64_t(entry.parsed->info.fewRows);
  mille_kernel_function &function = isFew ? entry.few : entry.many;
  if (!function)
    function =
        test::load(*entry.parsed, isa, isFew ? RowClass::few : RowClass::many);
  return {function, entry.parsed->info};
}

namespace {

// A run's: large pages where it is large.
const mille::Memory memoryOfRuns = mille::Memory::from({});

} // namespace

benchmarks::Buffer::Buffer(int64_t count, Element element)
    : element(element),
      first(memoryOfRuns.allocate(memoryOfRuns.user, count * element.bytes + 64,
                                  64)) {
  const bool halves = element.name == bf16.name;
  for (int64_t i = 0; i < count * element.bytes / 4; ++i) {
    floats()[i] = float(int(i * 2654435761u >> 16) % 2001 - 1000) / 1000.0f;
    // A bf16 is the upper half of a float.
    auto *half = reinterpret_cast<uint16_t *>(floats() + i);
    if (halves)
      half[0] = half[1];
  }
}

benchmarks::Buffer::~Buffer() {
  memoryOfRuns.release(memoryOfRuns.user, first);
}

template <class Run> static double secondsOf(Run run) {
  auto start = Clock::now();
  run();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

static double medianOf(std::vector<double> &values) {
  auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// A burst of 6 to 20 microseconds.
static double peakFlops(const PeakLoop &loop) {
  constexpr int64_t steps = 2000;
  return loop.operationsPerStep * steps / secondsOf([&] { loop.run(steps); });
}

bool benchmarks::hasInstructions(const Target &isa, NumberType type) {
  return peakLoop(type, isa.features).run;
}

void benchmarks::measureComputing(benchmark::State &state, const Target &isa,
                                  NumberType type,
                                  const std::vector<Task> &tasks) {
  PeakLoop loop = peakLoop(type, isa.features);
  std::vector<double> best(tasks.size(), 1e9), shares, peaks;
  double before = peakFlops(loop), flops = 0;
  for (const Task &task : tasks)
    flops += task.flops;
  for (auto _ : state)
    for (size_t i = 0; i < tasks.size(); ++i) {
      double time = secondsOf(tasks[i].run);
      best[i] = std::min(best[i], time);
      double after = peakFlops(loop);
      // A burst that was interrupted says nothing of its neighbours.
      if (after < 1.1 * before && before < 1.1 * after) {
        peaks.push_back((before + after) / 2);
        shares.push_back(tasks[i].flops / time / peaks.back());
      }
      before = after;
    }
  double whole = std::accumulate(best.begin(), best.end(), 0.0);
  state.counters["us"] = whole * 1e6;
  state.counters["GFLOPs"] = flops / whole / 1e9;
  if (shares.empty())
    return;
  state.counters["peak%"] = 100 * medianOf(shares);
  state.counters["peak"] = medianOf(peaks) / 1e9;
}

void benchmarks::measureMoving(benchmark::State &state, double bytes,
                               const std::function<void()> &run,
                               const std::function<void()> &plain) {
  std::vector<double> shares, plains;
  double best = 1e9;
  for (auto _ : state) {
    double before = secondsOf(plain), time = secondsOf(run);
    plains.push_back(before);
    shares.push_back(before / time);
    best = std::min(best, time);
  }
  state.counters["us"] = best * 1e6;
  state.counters["GB/s"] = bytes / best / 1e9;
  state.counters["bandwidth%"] = 100 * medianOf(shares);
  state.counters["bandwidth"] = bytes / medianOf(plains) / 1e9;
}

__attribute__((target("avx2"), noinline)) void
benchmarks::readAll(const void *from, size_t bytes) {
  auto *at = static_cast<const __m256i *>(from), *end = at + bytes / 32;
  __m256i a = _mm256_setzero_si256(), b = a;
  for (; at < end; at += 2) {
    a = _mm256_xor_si256(a, _mm256_load_si256(at));
    b = _mm256_xor_si256(b, _mm256_load_si256(at + 1));
  }
  asm volatile("" : : "x"(_mm256_xor_si256(a, b)));
}

__attribute__((target("avx2"), noinline)) void
benchmarks::copyAll(void *to, const void *from, size_t bytes) {
  auto *in = static_cast<const __m256i *>(from), *end = in + bytes / 32;
  for (auto *out = static_cast<__m256i *>(to); in < end; in += 2, out += 2) {
    _mm256_store_si256(out, _mm256_load_si256(in));
    _mm256_store_si256(out + 1, _mm256_load_si256(in + 1));
  }
  asm volatile("" ::: "memory");
}

int64_t benchmarks::paddedStride(int64_t columns, Element element) {
  int64_t line = 64 / element.bytes, lines = (columns + line - 1) / line;
  return (lines >= 16 && lines % 2 == 0 ? lines + 1 : lines) * line;
}

std::string benchmarks::rowsType(int64_t columns, int64_t stride,
                                 Element element) {
  std::string type = "memref<?x" + std::to_string(columns) + "x" + element.name;
  return type + (stride == columns
                     ? ">"
                     : ", strided<[" + std::to_string(stride) + ", 1]>>");
}

Argument benchmarks::matrixOf(void *host, int64_t rows, int64_t columns,
                              int64_t stride) {
  return test::matrix(static_cast<float *>(host), rows, columns, stride);
}
