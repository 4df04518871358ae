// What tests of the kernels of a training step share: rows of random numbers
// that end at guard pages, and how far a sum may be from double.
// Must be included by one file of a program.
#pragma once
#include "compiler/interpret/Judge.h"
#include "test/compiler/halide/Inputs/Hostile.h"
#include "test/compiler/halide/Inputs/LoadedKernel.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>

using namespace mille;
using namespace mille::test;

namespace {

int failures = 0;
void expect(bool holds, const std::string &what) {
  if (holds)
    return;
  if (++failures <= 40)
    printf("%s\n", what.c_str());
}

std::string text(int64_t number) { return std::to_string(number); }
std::string rowsType(int64_t columns, int64_t stride) {
  return rowsOf(columns, stride, "f32");
}
std::string fixedType(int64_t rows, int64_t columns) {
  return "memref<" + text(rows) + "x" + text(columns) + "xf32>";
}
int64_t strideOf(int64_t columns) { return (columns + 15) / 16 * 16 + 16; }

// Rows of random numbers, with what follows each row as the arena has it.
struct Rows {
  Rows(int64_t rows, int64_t columns, unsigned seed, Guarded::Side side,
       double scale = 1)
      : rows(rows), columns(columns), stride(strideOf(columns)),
        numbers((rows - 1) * stride + columns, side) {
    std::mt19937 random(seed);
    std::normal_distribution<float> draw(0.1f, float(scale));
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t n = 0; n < columns; ++n)
        at(m, n) = draw(random);
  }
  float &at(int64_t m, int64_t n) { return numbers[m * stride + n]; }
  float at(int64_t m, int64_t n) const { return numbers[m * stride + n]; }
  Argument from(int64_t first, int64_t end) {
    return matrix(numbers.data() + first * stride, end - first, columns,
                  stride);
  }
  Argument all() { return from(0, rows); }
  // Columns of all rows, as a dimension that tasks cut.
  Argument columnsFrom(int64_t first, int64_t end) {
    return matrix(numbers.data() + first, rows, end - first, stride);
  }
  std::string type() const { return rowsType(columns, stride); }
  // `across`: numbers cancel with those of the row before, not of the column.
  void spoil(Hostile kind, bool across = false) {
    std::mt19937 random(5);
    auto pick = [&](int64_t n) { return int64_t(random() % uint64_t(n)); };
    if (across)
      return mille::test::spoil(
          kind, columns, rows,
          [&](int64_t n, int64_t m) -> float & { return at(m, n); }, pick);
    mille::test::spoil(
        kind, rows, columns,
        [&](int64_t m, int64_t n) -> float & { return at(m, n); }, pick);
  }

  int64_t rows, columns, stride;
  Guarded numbers;
};

std::vector<float> copyOf(const Guarded &numbers) {
  return {numbers.data(), numbers.data() + numbers.size()};
}
bool sameBits(const std::vector<float> &a, const Guarded &b) {
  return a.size() == b.size() && !memcmp(a.data(), b.data(), a.size() * 4);
}
void fill(Guarded &numbers, const std::vector<float> &from) {
  memcpy(numbers.data(), from.data(), from.size() * 4);
}

// Whether |got - want| <= most + tiny; what is no number, or infinite, must be
// one of these.
bool isWithin(double got, double want, double most) {
  return std::isfinite(want) ? std::fabs(got - want) <= most + 1e-35
                             : !std::isfinite(got);
}
// Whether |got - want| is what so many roundings make of terms of that size.
bool isNear(double got, double want, double roundings, double size) {
  static const double each = toleranceOf("kernel_sum").relative;
  return isWithin(got, want, roundings * each * size);
}

constexpr auto sides = {Guarded::Side::end, Guarded::Side::start};

std::vector<float> drawn(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> draw(0, 2);
  std::vector<float> numbers(count);
  for (float &x : numbers)
    x = draw(random);
  return numbers;
}

// The task that the sums of a weight's gradient [N, K] over rows are.
struct SumsTask {
  int64_t N, K, rowUnit, columnUnit; // the units of tasks
  int64_t rows, cut;                 // of them; of a piece of the batch
};

// What `run` adds to `before` in `out` beside double, in one task, in the least
// tasks, and in pieces of the batch. factor: of the bound, as isNear takes it.
template <typename Gradient, typename Input, typename Run>
void checkSums(const std::string &name, const SumsTask &t,
               const Gradient &gradient, const Input &input,
               const std::vector<float> &before, Guarded &out, double factor,
               const Run &run) {
  fill(out, before);
  run(0, t.N, 0, t.K, 0, t.rows);
  const std::vector<float> whole = copyOf(out);
  for (int64_t n = 0; n < t.N; ++n)
    for (int64_t k = 0; k < t.K; ++k) {
      double want = before[n * t.K + k], size = std::fabs(want);
      for (int64_t m = 0; m < t.rows; ++m) {
        const double term = double(gradient.at(m, n)) * input.at(m, k);
        want += term;
        size += std::fabs(term);
      }
      expect(isNear(whole[n * t.K + k], want, factor, size),
             name + "error at " + text(n) + ", " + text(k));
    }
  fill(out, before);
  for (int64_t n = 0; n < t.N; n += t.rowUnit)
    for (int64_t k = 0; k < t.K; k += t.columnUnit)
      run(n, std::min(t.N, n + t.rowUnit), k, std::min(t.K, k + t.columnUnit),
          0, t.rows);
  expect(sameBits(whole, out), name + "bits differ between tasks");
  fill(out, before);
  for (int64_t m = 0; m < t.rows; m += t.cut)
    run(0, t.N, 0, t.K, m, std::min(t.rows, m + t.cut));
  expect(sameBits(whole, out), name + "bits differ between batches");
}

} // namespace
