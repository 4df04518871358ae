// Compares kernel.matmul of a weight in blocks, and kernel.quantize in blocks,
// with double at odd sizes and on hostile numbers; every buffer ends or starts
// at a guard page.
//
// REQUIRES: x86-64-v4
// RUN: %programs/kernel-blocks widest odd
#include "compiler/interpret/Judge.h"
#include "compiler/weights/Elements.h"
#include "dialects/transformer/Encoding.h"
#include "dialects/transformer/UnevenLevels.h"
#include "test/compiler/halide/Inputs/Expect.h"
#include "test/compiler/halide/Inputs/LoadedKernel.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

using namespace mille;
using namespace mille::test;

namespace {

struct Case {
  std::string encoding;
  int64_t inner, columns;
  int accumulators;
  bool extreme = false; // levels, scales and values are the largest there are
  bool hostile = false; // steps of the input are, of each row in another way

  BlockForm form() const {
    return blockFormOf(*transformer::symbolizeEncoding(encoding));
  }
  int64_t blocks() const { return inner / inputBlock; }
  int64_t units() const { return inner / form().numbers(); } // sharing steps
  int64_t panels() const { return (columns + 15) / 16; }
  int64_t line() const { return form().bytes(accumulators); }
  int64_t inStride() const { return inner + 3; }
  int64_t outStride() const { return columns + 1; }
  std::string name() const {
    return encoding + " " + number(inner) + " x " + number(columns) +
           (accumulators == 2 ? " gated" : "") + (extreme ? " extreme" : "") +
           (hostile ? " hostile" : "");
  }
  std::string text() const {
    std::string x = rowsOf(inner, inStride(), "i8"),
                o = rowsOf(columns, outStride(), "f32"),
                w = "memref<" + number(panels()) + "x" + number(units()) + "x" +
                    number(line()) + "xi8>",
                z = "memref<?x" + number(inputParameters * blocks()) + "xf32>";
    return "func.func @f(%x: " + x + ", %w: " + w + ", %z: " + z +
           ", %r: " + o + ", %o: " + o +
           ") {\n kernel.matmul %x, %w parameters %z : " + z +
           " extras(%r : " + o + ") outs(%o : " + o + ") accumulators " +
           number(accumulators) + " blocks " + encoding + " {\n" +
           (accumulators == 2 ? "^bb0(%a: f32, %b: f32, %s: f32):\n"
                                " %c = arith.addf %a, %b : f32\n"
                              : "^bb0(%c: f32, %s: f32):\n") +
           " %y = arith.addf %c, %s : f32\n kernel.yield %y : f32\n } : " + x +
           ", " + w + "\n return\n}\n";
  }
};

// A number of the weight, and the magnitude of what it is made of.
struct Weight {
  double number, magnitude;
};

struct Data {
  const Case &c;
  int64_t rows;
  Guarded input, weight, parameters, extra, out;
  std::vector<double> expected, terms; // and the magnitudes of what is added
  std::mt19937 random;

  Data(const Case &c, int64_t rows, Guarded::Side side)
      : c(c), rows(rows), input((rows - 1) * c.inStride() + c.inner, side, 1),
        weight(c.panels() * c.units() * c.line(), side, 1),
        parameters(rows * inputParameters * c.blocks(), side),
        extra((rows - 1) * c.outStride() + c.columns, side),
        out(extra.size(), side), random(unsigned(c.inner * 7919 + rows)) {
    fillInput();
    const std::vector<Weight> w = fillWeight();
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t n = 0; n < c.columns; ++n)
        expectAt(m, n, w);
  }

  double draw(double most) {
    return std::uniform_real_distribution<double>(-most, most)(random);
  }

  void fillInput() {
    const int64_t blocks = c.blocks();
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t b = 0; b < blocks; ++b) {
        float sums[2] = {},
              *of = parameters.data() + m * inputParameters * blocks;
        for (int64_t k = 0; k < 32; ++k)
          sums[k / 16] += input.as<int8_t>()[m * c.inStride() + 32 * b + k] =
              int8_t(c.extreme ? (m % 2 ? -127 : 127)
                               : std::nearbyint(draw(127)));
        of[b] = c.hostile ? hostileStep(m, b) : float(0.02 + draw(0.01));
        of[blocks + b] = countsFrom - levelOffset * (sums[0] + sums[1]);
        of[2 * blocks + b] = countsFrom - levelOffset * sums[0];
      }
  }

  // Huge beside tiny, subnormal, 0, and one of a row that is no number.
  float hostileStep(int64_t m, int64_t b) {
    const auto step = float(0.02 + draw(0.01));
    switch (m % 6) {
    case 1:
      return step * (b % 2 ? 1e25f : 1e-25f);
    case 2:
      return step * 1e-37f;
    case 3:
      return 0;
    case 4:
      return b ? step : NAN;
    case 5:
      return b ? step : INFINITY;
    default:
      return step;
    }
  }

  // Also the numbers that the weight stands for, [accumulators * N, K].
  std::vector<Weight> fillWeight() {
    memset(weight.data(), 0, weight.size());
    std::vector<Weight> w;
    for (int64_t a = 0; a < c.accumulators; ++a)
      for (int64_t n = 0; n < c.columns; ++n)
        for (int64_t unit = 0; unit < c.units(); ++unit)
          putUnit(weight.as<uint8_t>() + (n / 16 * c.units() + unit) * c.line(),
                  a, n % 16, w);
    return w;
  }

  // What shares steps, of one row.
  void putUnit(uint8_t *to, int64_t a, int64_t row, std::vector<Weight> &w) {
    const BlockForm form = c.form();
    const int64_t A = c.accumulators;
    const double step = unevenLevelsOf(form).hasPowers
                            ? putPower(to + form.stepAt(A, a) + row * 2, row)
                            : put16(to + form.stepAt(A, a) + row * 2),
                 leastStep = form.hasLeast
                                 ? put16(to + form.leastStepAt(A, a) + row * 2)
                                 : 0;
    for (int64_t b = 0; b < form.blocks; ++b) {
      double scales[2] = {step, step}, least = leastStep;
      for (int64_t p = 0; p < form.parts && form.sharesSteps(); ++p) {
        const int drawn = c.extreme ? (row % 3 ? -128 : 127) : int(draw(127));
        scales[p] *= int8_t(to[form.scaleAt(A, b, p, a) + row] = uint8_t(
                                form.hasLeast ? std::abs(drawn) / 2 : drawn));
      }
      if (form.sharesSteps() && form.hasLeast)
        least *= to[form.leastAt(A, b, a) + row] = uint8_t(std::fabs(draw(63)));
      for (int64_t k = 0; k < 32; ++k) {
        const double product =
            scales[k / (32 / form.parts)] * putLevel(to, b, a, row, k);
        w.push_back({product - least, std::fabs(product) + least});
      }
    }
  }

  double put16(uint8_t *to) {
    const auto bits = uint16_t(0x2000 + int(1000 + draw(1000)));
    std::memcpy(to, &bits, sizeof bits);
    return widenF16(bits);
  }

  // Row 1 has the smallest power there is, which is no normal number.
  double putPower(uint8_t *to, int64_t row) {
    const auto bits = uint16_t(row == 1 ? 0x20 : (120 + int(draw(5))) << 7);
    std::memcpy(to, &bits, sizeof bits);
    return widenBf16(bits);
  }

  int putLevel(uint8_t *to, int64_t b, int64_t a, int64_t row, int64_t k) {
    const BlockForm form = c.form();
    const int most = (1 << form.bits) - 1;
    const auto stored = uint8_t(c.extreme ? (row % 2 ? most : 0)
                                          : std::fabs(draw(most + 0.99)));
    auto byte = [&](int64_t line) -> uint8_t & {
      return to[form.levelAt(c.accumulators, b, line, a) + row * 4 + k % 4];
    };
    if (form.bits == 8)
      byte(k / 4) = stored;
    else
      byte(k / 4 % 4) |= k < 16 ? stored & 15 : stored << 4;
    if (form.bits == 5)
      byte(4) |= stored >> 4 << k / 4;
    if (form.bits == 6)
      byte(4 + k / 16) |= stored >> 4 << k / 4 % 4 * 2;
    return valueOf(form, unevenLevelsOf(form), stored);
  }

  void expectAt(int64_t m, int64_t n, const std::vector<Weight> &w) {
    const int64_t at = m * c.outStride() + n, blocks = c.blocks();
    extra[at] = float(draw(1));
    double total = extra[at], magnitude = std::fabs(total);
    for (int64_t a = 0; a < c.accumulators; ++a)
      for (int64_t k = 0; k < c.inner; ++k) {
        const double x =
            double(parameters[m * inputParameters * blocks + k / 32]) *
            input.as<int8_t>()[m * c.inStride() + k];
        const Weight &of = w[(a * c.columns + n) * c.inner + k];
        total += x * of.number;
        magnitude += std::fabs(x) * of.magnitude;
      }
    expected.push_back(total);
    terms.push_back(magnitude);
  }

  void run(mille_kernel_function kernel, int64_t m0, int64_t m1, int64_t n0,
           int64_t n1) {
    const auto line = int32_t(c.line()), units = int32_t(c.units()),
               each = int32_t(inputParameters * c.blocks());
    const int64_t first = m0 * c.outStride();
    Argument range =
        matrix(out.data() + first + n0, m1 - m0, n1 - n0, c.outStride());
    range.dimensions[0].min = int32_t(n0);
    expect(
        call(kernel,
             {matrix(input.as<char>() + m0 * c.inStride(), m1 - m0, c.inner,
                     c.inStride()),
              {weight.data(),
               {{0, line, 1, 0},
                {0, units, line, 0},
                {0, int32_t(c.panels()), line * units, 0}}},
              matrix(parameters.data() + m0 * each, m1 - m0, each, each),
              matrix(extra.data() + first, m1 - m0, c.columns, c.outStride())},
             {}, range) == 0,
        c.name() + ": status");
  }

  std::vector<char> bits() const {
    const char *first = out.as<char>();
    return {first, first + out.size() * 4};
  }
};

void checkValues(const Data &data) {
  static const double rounding = toleranceOf("kernel_sum").relative;
  const Case &c = data.c;
  for (int64_t m = 0; m < data.rows; ++m)
    for (int64_t n = 0; n < c.columns; ++n) {
      const int64_t at = m * c.columns + n;
      const double got = data.out[m * c.outStride() + n],
                   want = data.expected[at];
      const double allowed =
          rounding * double(c.blocks() + 6) * data.terms[at] + 1e-36;
      if (std::isfinite(want) ? !(std::fabs(got - want) <= allowed)
                              : std::isfinite(got))
        return expect(false, c.name() + ", " + number(data.rows) + " rows: [" +
                                 number(m) + ", " + number(n) + "] is " +
                                 std::to_string(got) + " but must be " +
                                 std::to_string(want));
    }
}

void checkScratch(const Case &c, const KernelInfo &info) {
  expect(peakScratch() <= info.scratchBytes,
         c.name() + ": " + number(int64_t(peakScratch())) +
             " bytes of scratch, but " + number(int64_t(info.scratchBytes)) +
             " are said");
}

// The kernels of many rows, one for each tile.
std::vector<mille_kernel_function> manyOf(const Case &c, const Target &isa) {
  const MadeKernel &kernel = made(c.text(), isa);
  const size_t ranks = generators().tiles(kernel.parsed->op, isa).size();
  std::vector<mille_kernel_function> kernels{kernel.function};
  for (unsigned rank = 1; rank < ranks; ++rank)
    kernels.push_back(made(c.text(), isa, RowClass::many, rank).function);
  return kernels;
}

void check(const Case &c, const Target &isa) {
  const MadeKernel &kernel = made(c.text(), isa);
  const std::vector<mille_kernel_function> all = manyOf(c, isa);
  const KernelInfo &info = kernel.parsed->info;
  mille_kernel_function many = kernel.function, few = many;
  if (kernelSymbol(info, isa, RowClass::few) !=
      kernelSymbol(info, isa, RowClass::many))
    few = made(c.text(), isa, RowClass::few).function;
  // The runtime calls the kernel of many rows for no fewer rows than this.
  const int64_t least = many == few ? 1 : info.fewRows + 1;
  for (int64_t rows : {1, 2, 4, 5, 6, 8, 13, 31, 43, 75})
    for (auto side : {Guarded::Side::end, Guarded::Side::start}) {
      Data data(c, rows, side);
      auto clear = [&] { memset(data.out.data(), 0xff, data.bits().size()); };
      clear();
      resetScratch();
      data.run(few, 0, rows, 0, c.columns);
      if (rows <= info.fewRows)
        checkScratch(c, info);
      checkValues(data);
      const std::vector<char> whole = data.bits(); // with what is between rows
      for (mille_kernel_function ofTile : all) {
        if (rows < least)
          break;
        clear();
        resetScratch();
        data.run(ofTile, 0, rows, 0, c.columns);
        checkScratch(c, info);
        expect(whole == data.bits(),
               c.name() + ": bits differ between classes or tiles");
      }
      clear();
      for (int64_t n = 0; n < c.columns; n += 16)
        for (int64_t m = 0, part = 0; m < rows; m += part) {
          part = std::min(rows - m, 1 + m % 5);
          data.run(few, m, m + part, n, std::min(c.columns, n + 16));
        }
      expect(whole == data.bits(), c.name() + ": bits differ between ranges");
    }
}

void checkBlock(const std::string &name, const float *x, const int8_t *values,
                float step, float sum, float sumOfHalf) {
  static const double ofStep = toleranceOf("kernel_step").relative,
                      level = toleranceOf("kernel_level").relative;
  float largest = 0, added = 0, ofHalf = 0;
  for (int k = 0; k < 32; ++k)
    largest = std::max(largest, std::fabs(x[k]));
  expect(std::fabs(step / std::max(largest / 127.0, 0x1p-100) - 1) < ofStep,
         name + ": step");
  for (int k = 0; k < 32; ++k) {
    added += values[k];
    ofHalf += k < 16 ? values[k] : 0;
    expect(std::fabs(values[k] - x[k] / double(step)) <= level,
           name + ": value " + number(k));
  }
  expect(sum == countsFrom - levelOffset * added, name + ": sum");
  expect(sumOfHalf == countsFrom - levelOffset * ofHalf,
         name + ": sum of the first half");
}

void checkQuantize(int64_t columns, bool narrow, const Target &isa) {
  const int64_t rows = 8, stride = columns + 2, blocks = columns / 32,
                each = inputParameters * blocks;
  std::string x = rowsOf(columns, stride, narrow ? "bf16" : "f32"),
              v = rowsOf(columns, stride, "i8"),
              p = "memref<?x" + number(each) + "xf32>";
  ParsedKernel parsed("func.func @f(%x: " + x + ", %v: " + v + ", %p: " + p +
                      ") {\n kernel.quantize %x values(%v : " + v +
                      ") parameters(%p : " + p + ") : " + x + "\n return\n}\n");
  mille_kernel_function kernel = load(parsed, isa, RowClass::many);
  std::string name =
      "quantize in blocks " + number(columns) + (narrow ? " of bf16" : "");
  for (auto side : {Guarded::Side::end, Guarded::Side::start}) {
    size_t count = (rows - 1) * stride + columns;
    Guarded input(count, side, narrow ? 2 : 4), values(count, side, 1);
    Guarded parameters(rows * each, side);
    std::mt19937 random{unsigned(columns)};
    std::vector<float> numbers(rows * columns);
    for (int64_t i = 0; i < rows * columns; ++i) {
      const int64_t m = i / columns, at = m * stride + i % columns;
      float drawn = std::uniform_real_distribution<float>(-3, 3)(random);
      // a row of zeros, a wide one, a NaN or an infinity in each block, a
      // subnormal row, huge numbers beside tiny ones
      const float power = float(std::pow(10.0, double(random() % 19) - 9));
      float number = m == 1                  ? 0
                     : m == 2                ? drawn * 1e30f
                     : m == 3 && i % 32 == 7 ? NAN
                     : m == 5 && i % 32 == 7 ? INFINITY
                     : m == 6                ? drawn * 1e-39f
                     : m == 7                ? drawn * power
                                             : drawn;
      if (narrow)
        number = widenBf16(input.as<uint16_t>()[at] = narrowBf16(number));
      else
        input[at] = number;
      numbers[i] = number;
    }
    expect(call(kernel,
                {matrix(input.data(), rows, columns, stride),
                 matrix(values.data(), rows, columns, stride)},
                {}, matrix(parameters.data(), rows, each, each)) == 0,
           name + ": status");
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t b = 0; b < blocks; ++b) {
        const float *of = parameters.data() + m * each;
        if (m == 3 || m == 5)
          expect(!std::isfinite(of[b]), name + ": what is no number is lost");
        else
          checkBlock(name + " row " + number(m), &numbers[m * columns + 32 * b],
                     values.as<int8_t>() + m * stride + 32 * b, of[b],
                     of[blocks + b], of[2 * blocks + b]);
      }
  }
}

} // namespace

int main(int argc, char **argv) {
  const Target &isa = isaToTest(argc, argv);
  Turns turns(argc, argv);
  auto judge = [&](const Case &c) {
    if (turns.takesNext())
      check(c, isa);
  };
  for (Encoding one : multipliedEncodings()) {
    const std::string encoding = transformer::stringifyEncoding(one).str();
    const int64_t unit = blockFormOf(one).numbers();
    if (unevenLevelsOf(blockFormOf(one))) {
      judge({encoding, 3 * unit, 49, 1});
      judge({encoding, 2 * unit, 40, 2, /*extreme=*/true});
      continue;
    }
    judge({encoding, unit, 100, 1});
    judge({encoding, 3 * unit, 49, 1});
    // The rest have one shape, and share kernels.
    if (!turns.takesNext())
      continue;
    check({encoding, 2 * unit, 40, 2}, isa);
    // Pairs of such products do not fit 16 bits.
    check({encoding, 2 * unit, 40, 2, /*extreme=*/true}, isa);
    if (encoding == "q4_0" || encoding == "q8_0" || encoding == "q4_k")
      check({encoding, 2 * unit, 40, 2, /*extreme=*/false, /*hostile=*/true},
            isa);
  }
  judge({"q4_0", 576, 1, 1});
  judge({"q4_0", 800, 17, 2}); // few rows are copied (laysRowsBeside)
  for (int64_t columns : {32, 96, 576, 3072})
    for (bool narrow : {false, true})
      if (turns.takesNext())
        checkQuantize(columns, narrow, isa);
  if (failures)
    printf("%d failures\n", failures);
  return failures ? 1 : 0;
}
