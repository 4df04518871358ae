// Compares kernel.quantize, and rows whose out is bf16, with double at odd
// sizes and on hostile numbers; buffers of quantize end or start at a guard
// page.
//
// REQUIRES: x86-64-v4
// RUN: %programs/kernel-narrow-rows widest
#include "compiler/interpret/Judge.h"
#include "compiler/weights/Elements.h"
#include "dialects/transformer/Activation.h"
#include "test/compiler/halide/Inputs/Expect.h"
#include "test/compiler/halide/Inputs/LoadedKernel.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

using namespace mille;
using namespace mille::test;

namespace {

// `parameters`: step, zero, outlier, its column.
void checkRow(const std::string &name, std::vector<float> row,
              const uint8_t *values, const float *parameters) {
  auto smaller = [&](const float &x, const float &y) {
    auto lane = [&](const float &of) { return (&of - row.data()) % 64; };
    return std::tuple(std::fabs(x), x > 0, -lane(x)) <
           std::tuple(std::fabs(y), y > 0, -lane(y));
  };
  auto outlier =
      std::max_element(row.begin(), row.end(), smaller); // the first of these
  expect(parameters[2] == *outlier, name + ": outlier");
  expect(parameters[3] == float(outlier - row.begin()),
         name + ": the outlier's column");
  *outlier = 0;
  double low = std::min(0.0f, *std::min_element(row.begin(), row.end()));
  double high = std::max(0.0f, *std::max_element(row.begin(), row.end()));
  double wanted = std::max((high - low) / 255, 0x1p-100), zero = parameters[1];
  const float step = parameters[0];
  const double level = toleranceOf("kernel_level").relative;
  expect(std::fabs(step / wanted - 1) < toleranceOf("kernel_step").relative,
         name + ": step");
  expect(std::fabs(zero + low / step) <= level, name + ": zero");
  for (size_t n = 0; n < row.size(); ++n)
    expect(std::fabs(values[n] - zero - row[n] / double(step)) <=
               level + (values[n] == 255 ? 0.5 : 0), // zero was rounded, too
           name + ": value " + number(n));
}

void checkQuantize(int64_t columns, bool narrow, const Target &isa) {
  const int64_t rows = 8, stride = columns + 2;
  std::string x = rowsOf(columns, stride, narrow ? "bf16" : "f32");
  std::string v = rowsOf(columns, stride, "ui8"), p = "memref<?x4xf32>";
  ParsedKernel parsed("func.func @f(%x: " + x + ", %v: " + v + ", %p: " + p +
                      ") {\n kernel.quantize %x values(%v : " + v +
                      ") parameters(%p : " + p + ") : " + x + "\n return\n}\n");
  mille_kernel_function kernel = load(parsed, isa, RowClass::many);
  std::string name = "quantize " + number(columns) + (narrow ? " of bf16" : "");
  for (auto side : {Guarded::Side::end, Guarded::Side::start}) {
    size_t count = (rows - 1) * stride + columns;
    Guarded input(count, side, narrow ? 2 : 4), values(count, side, 1);
    Guarded parameters(rows * 4, side);
    std::mt19937 random{unsigned(columns)};
    std::vector<float> numbers(rows * columns);
    for (int64_t i = 0; i < rows * columns; ++i) {
      int64_t m = i / columns, at = m * stride + i % columns;
      float drawn = std::uniform_real_distribution<float>(-3, 3)(random);
      // a row of zeros, a wide one, one above 0, an infinity, a subnormal row,
      // huge numbers beside tiny ones
      const float power = float(std::pow(10.0, double(random() % 19) - 9));
      float x = m == 1                                 ? 0
                : m == 2                               ? drawn * 1e20f
                : m == 4                               ? drawn + 7
                : m == 5 && i % columns == columns / 2 ? -INFINITY
                : m == 6                               ? drawn * 1e-39f
                : m == 7                               ? drawn * power
                                                       : drawn;
      if (m == 3 && i % columns >= columns / 2) // the first NaN is the outlier
        x = i % 2 ? NAN : -NAN;
      if (m == 0 && i % columns >= columns / 3) // two signs, and some equal
        x = i % 3 ? 40 : -40;
      if (narrow)
        x = widenBf16(input.as<uint16_t>()[at] = narrowBf16(x));
      else
        input[at] = x;
      numbers[i] = x;
    }
    auto matrixAt = [&](void *host) {
      return Argument{host,
                      {{0, int32_t(columns), 1, 0},
                       {0, int32_t(rows), int32_t(stride), 0}}};
    };
    Argument out{parameters.data(), {{0, 4, 1, 0}, {0, int32_t(rows), 4, 0}}};
    expect(call(kernel, {matrixAt(input.data()), matrixAt(values.data())}, {},
                out) == 0,
           name + ": status");
    for (int64_t m = 0; m < rows; ++m) {
      const float *row = &numbers[m * columns],
                  *of = parameters.as<float>() + m * 4;
      if (m == 3)
        expect(!std::isfinite(of[0]) || !std::isfinite(of[2]),
               name + ": a NaN is lost");
      else
        checkRow(name + " row " + number(m), {row, row + columns},
                 values.as<uint8_t>() + m * stride, of);
    }
  }
}

//===-- Rows to bf16
//--------------------------------------------------------------//

// kernel.rows with this region on rows of so many columns, of `element`, to
// bf16.
template <typename T>
std::vector<uint16_t> narrowedRows(const std::string &region,
                                   const char *element, int64_t columns,
                                   std::vector<T> &x, const Target &isa) {
  auto type = [&](const char *of) {
    return "memref<?x" + number(columns) + "x" + of + ">";
  };
  ParsedKernel parsed(
      "func.func @f(%x: " + type(element) + ", %o: " + type("bf16") +
      ") {\n kernel.rows ins(%x : " + type(element) +
      ") outs(%o : " + type("bf16") + ") gather [-1] {\n^bb0(%a: f32):\n" +
      region + " }\n return\n}\n");
  std::vector<uint16_t> y(x.size());
  auto all = [&](void *host) {
    return Argument{host,
                    {{0, int32_t(columns), 1, 0},
                     {0, int32_t(x.size() / columns), int32_t(columns), 0}}};
  };
  expect(call(load(parsed, isa, RowClass::many), {all(x.data())}, {},
              all(y.data())) == 0,
         "rows to bf16: status");
  return y;
}

// Smaller numbers count as 0: the instruction that rounds to bf16 flushes them.
float leastOf(const Target &isa) {
  return isa.features & MILLE_CPU_AVX512_BF16 ? FLT_MIN : 0.0f;
}

// What rounds up, down, to even and to infinity, in all exponents and signs,
// and NaN.
void checkRounding(const Target &isa) {
  const uint32_t lower[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
  const int64_t columns = 101, rows = (6 * 65536 + columns - 1) / columns;
  std::vector<float> x(rows * columns, 1.0f);
  for (uint32_t i = 0; i < 6 * 65536; ++i) {
    uint32_t bits = i / 6 << 16 | lower[i % 6];
    std::memcpy(&x[i], &bits, sizeof bits);
  }
  const std::vector<uint16_t> y =
      narrowedRows(" kernel.yield %a : f32\n", "f32", columns, x, isa);
  for (size_t i = 0; i < x.size(); ++i) {
    const bool isNothing =
        std::fabs(x[i]) < leastOf(isa) && (y[i] & 0x7fff) == 0;
    if (y[i] != narrowBf16(x[i]) && !isNothing)
      return expect(false, "rounding of " + std::to_string(x[i]) + " is " +
                               number(y[i]) + " but must be " +
                               number(narrowBf16(x[i])));
  }
}

// Every bf16: as near as its rounding and the quicker polynomials allow, or
// those whose coefficients are picked, which AVX-512 does. Of minus infinity
// almost 0, the limit.
void checkGelu(const Target &isa) {
  const bool picks = isa.features & MILLE_CPU_AVX512;
  const Tolerance own =
      toleranceOf(picks ? "kernel_gelu_picked" : "kernel_gelu_bf16");
  const double rounding = toleranceOf("kernel_to_bf16").relative;
  std::vector<uint16_t> x(65536);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = uint16_t(i);
  const std::vector<uint16_t> y = narrowedRows(
      " %h = arith.constant 0.5 : f32\n"
      " %c = arith.constant -0.70710678118654757 : f32\n"
      " %p = arith.mulf %h, %a : f32\n %t = arith.mulf %c, %a : f32\n"
      " %e = math.erfc %t : f32\n %y = arith.mulf %p, %e : f32\n"
      " kernel.yield %y : f32\n",
      "bf16", 64, x, isa);
  for (size_t i = 0; i < x.size(); ++i) {
    double in = widenBf16(x[i]), got = widenBf16(y[i]);
    double want =
        transformer::activation(transformer::Activation::gelu_erf, in);
    double most = std::max(1e-38, double(leastOf(isa))) +
                  rounding * std::fabs(want) +
                  (in > -2 ? own.relative * std::fabs(want) : own.absolute);
    bool right = std::isnan(in)   ? std::isnan(got)
                 : in == INFINITY ? got == in
                                  : std::fabs(got - want) <= most;
    if (!right)
      return expect(false, "gelu(" + std::to_string(in) + ") is " +
                               std::to_string(got) + " but must be " +
                               std::to_string(want));
  }
}

} // namespace

int main(int argc, char **argv) {
  const Target &isa = isaToTest(argc, argv);
  for (int64_t columns : {1, 15, 17, 64, 100, 769, 3072})
    for (bool narrow : {false, true})
      checkQuantize(columns, narrow, isa);
  checkRounding(isa);
  checkGelu(isa);
  printf("%d failures\n", failures);
  return failures != 0;
}
