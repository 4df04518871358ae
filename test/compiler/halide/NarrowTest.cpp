// Compares kernel.matmul on bf16 and on bytes with double at odd sizes and on
// hostile numbers; every buffer ends or starts at a guard page.
//
// REQUIRES: x86-64-v4
// RUN: %programs/kernel-narrow widest odd
#include "compiler/interpret/Judge.h"
#include "compiler/weights/Elements.h"
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

constexpr double scaleOfGelu = 0x1p-7;
const char *geluOfScaled =
    " %k = arith.constant 0.0078125 : f32\n"
    " %a0 = math.fma %c, %k, %s : f32\n"
    " %h = arith.constant 0.5 : f32\n"
    " %n = arith.constant -0.70710678118654757 : f32\n"
    " %p = arith.mulf %h, %a0 : f32\n"
    " %t = arith.mulf %n, %a0 : f32\n"
    " %e = math.erfc %t : f32\n %y = arith.mulf %p, %e : f32\n";

// A matmul of `inner` x `columns`, without or with an extra of the out's
// elements.
struct Case {
  bool bytes;  // ui8 and i8, else bf16
  bool narrow; // the out and the extra are bf16
  int64_t inner, columns;
  int accumulators;
  int64_t panel = 64;
  bool gelu =
      false; // of the sum, scaled, and the extra; else what they add up to
  bool hostile = false; // the rows of the input, each in another way
  bool extreme = false; // bytes, whose pairs of products exceed 16 bits

  int64_t group() const { return bytes ? 4 : 2; }
  int64_t each() const { return 4 / group(); } // bytes of an element
  int64_t steps() const { return (inner + group() - 1) / group(); }
  int64_t perPanel() const { return panel / accumulators; }
  int64_t panels() const { return (columns + perPanel() - 1) / perPanel(); }
  int64_t inStride() const { return inner + 3; }
  int64_t outStride() const { return columns + 1; }
  const char *outElement() const { return narrow ? "bf16" : "f32"; }
  std::string name() const {
    return std::string(bytes ? "bytes " : "bf16 ") + number(inner) + " x " +
           number(columns) + (accumulators == 2 ? " gated" : "") +
           (narrow ? " to bf16" : "") + (gelu ? " gelu" : "") +
           (hostile ? " hostile" : "") + (extreme ? " extreme" : "");
  }
  std::string text() const {
    std::string x = rowsOf(inner, inStride(), bytes ? "ui8" : "bf16");
    std::string o = rowsOf(columns, outStride(), outElement());
    std::string w = "memref<" + number(panels()) + "x" + number(steps()) + "x" +
                    number(panel * group()) + (bytes ? "xi8>" : "xbf16>");
    std::string u =
        "memref<" + number(panels()) + "x1x" + number(panel) + "xi32>";
    std::string parameters =
        bytes ? " parameters %z : memref<?x4xf32> sums %u : " + u : "";
    std::string region = accumulators == 2
                             ? "^bb0(%a: f32, %b: f32, %s: f32):\n"
                               " %c = arith.addf %a, %b : f32\n"
                             : "^bb0(%c: f32, %s: f32):\n";
    return "func.func @f(%x: " + x + ", %w: " + w +
           ", %z: memref<?x4xf32>, %u: " + u + ", %r: " + o + ", %o: " + o +
           ") {\n kernel.matmul %x, %w" + parameters + " extras(%r : " + o +
           ") outs(%o : " + o + ") accumulators " + number(accumulators) +
           " {\n" + region +
           (gelu ? geluOfScaled : " %y = arith.addf %c, %s : f32\n") +
           " kernel.yield %y : f32\n } : " + x + ", " + w + "\n return\n}\n";
  }
  double scale() const { return gelu ? scaleOfGelu : 1; }
  double result(double total) const {
    return gelu ? 0.5 * total * std::erfc(-total * M_SQRT1_2) : total;
  }
};

// An element of the out or the extra.
double read(const Guarded &buffer, int64_t i, bool narrow) {
  return narrow ? widenBf16(buffer.as<uint16_t>()[i]) : buffer[i];
}

struct Data {
  const Case &c;
  int64_t rows;
  Guarded input, weight, parameters, sums, extra, out;
  std::vector<double> expected,
      terms; // and the magnitudes of what is added to it

  Data(const Case &c, int64_t rows, Guarded::Side side)
      : c(c), rows(rows),
        input((rows - 1) * c.inStride() + c.inner, side, c.each()),
        weight(c.panels() * c.steps() * c.panel * c.group(), side, c.each()),
        parameters(rows * 4, side), sums(c.panels() * c.panel, side),
        extra((rows - 1) * c.outStride() + c.columns, side, c.narrow ? 2 : 4),
        out(extra.size(), side, c.narrow ? 2 : 4) {
    std::mt19937 random(unsigned(c.inner * 7919 + rows));
    auto draw = [&](double most) {
      return std::uniform_real_distribution<double>(-most, most)(random);
    };
    std::vector<double> x(rows * c.inner),
        w(c.accumulators * c.columns * c.inner);
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t k = 0; k < c.inner; ++k)
        x[m * c.inner + k] = put(input, m * c.inStride() + k,
                                 c.extreme   ? extremeOf(m, draw(1), 0, 255)
                                 : c.bytes   ? 128 + draw(128)
                                 : c.hostile ? hostileNumber(m, k, draw(1))
                                             : draw(1));
    memset(weight.data(), 0, weight.size() * c.each());
    std::fill_n(sums.as<int32_t>(), sums.size(), 0);
    std::vector<double> start(c.accumulators *
                              c.columns); // any: sums are given
    for (int64_t m = 0; m < rows; ++m) {
      const float drawn[] = {float(0.02 + draw(0.01)),
                             float(int32_t(128 + draw(127))), float(draw(30)),
                             float((m * 7 + c.inner - 1) % c.inner)};
      std::copy_n(drawn, 4, parameters.as<float>() + m * 4);
      if (c.hostile)
        spoilParameters(m);
    }
    for (int64_t a = 0; a < c.accumulators; ++a)
      for (int64_t n = 0; n < c.columns; ++n) {
        int64_t panel = n / c.perPanel(),
                j = a * c.perPanel() + n % c.perPanel();
        if (c.bytes)
          start[a * c.columns + n] = sums.as<int32_t>()[panel * c.panel + j] =
              int32_t(draw(100000));
        for (int64_t k = 0; k < c.inner; ++k)
          w[(a * c.columns + n) * c.inner + k] =
              put(weight,
                  (panel * c.steps() + k / c.group()) * c.panel * c.group() +
                      j * c.group() + k % c.group(),
                  c.extreme ? extremeOf(n, draw(1), 127, -128)
                  : c.bytes ? draw(127)
                            : draw(1),
                  /*isSigned=*/true);
      }
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t n = 0; n < c.columns; ++n) {
        int64_t at = m * c.outStride() + n;
        if (c.narrow)
          extra.as<uint16_t>()[at] = narrowBf16(float(draw(1)));
        else
          extra[at] = float(draw(1));
        double total = read(extra, at, c.narrow), magnitude = std::fabs(total);
        for (int64_t a = 0; a < c.accumulators; ++a) {
          const double *row = &w[(a * c.columns + n) * c.inner];
          double sum = 0, outlier = 0;
          for (int64_t k = 0; k < c.inner; ++k)
            sum += x[m * c.inner + k] * row[k];
          if (c.bytes) {
            const float *p = parameters.as<float>() + m * 4;
            sum = (sum - p[1] * start[a * c.columns + n]) * p[0];
            outlier = p[2] * row[int64_t(p[3])];
          }
          total += c.scale() * (sum + outlier);
          magnitude += c.scale() * (std::fabs(sum) + std::fabs(outlier));
          for (int64_t k = 0; c.hostile && !c.bytes && k < c.inner; ++k)
            magnitude += std::fabs(x[m * c.inner + k] * row[k]);
        }
        expected.push_back(c.result(total));
        terms.push_back(magnitude);
      }
  }

  // Of row m: huge beside tiny, subnormal, 0, and one that is no number.
  static double hostileNumber(int64_t m, int64_t k, double number) {
    switch (m % 6) {
    case 1:
      return number * std::pow(10.0, double(k * 7 % 19) - 9);
    case 2:
      return number * 1e-39;
    case 3:
      return k % 2 ? 0.0 : -0.0;
    case 4:
      return k ? number : double(NAN);
    case 5:
      return k ? number : double(INFINITY);
    default:
      return number;
    }
  }

  // The far end, alone in each second row or column.
  static double extremeOf(int64_t row, double drawn, double near, double far) {
    return row % 2 && drawn < 0 ? near : far;
  }

  // The step and the outlier of a row of bytes in the same ways.
  void spoilParameters(int64_t m) {
    float *p = parameters.as<float>() + m * 4;
    switch (m % 6) {
    case 1:
      p[0] *= 1e-25f;
      p[2] *= 1e25f;
      break;
    case 2:
      p[0] *= 1e-39f;
      p[2] *= 1e-39f;
      break;
    case 3:
      p[0] = p[2] = 0;
      break;
    case 4:
      p[2] = NAN; // as quantize gives it
      break;
    case 5:
      p[2] = INFINITY;
      break;
    default:
      break;
    }
  }

  // Stores the nearest element; returns its value.
  double put(Guarded &buffer, int64_t at, double value, bool isSigned = false) {
    if (!c.bytes) {
      buffer.as<uint16_t>()[at] = narrowBf16(float(value));
      return widenBf16(buffer.as<uint16_t>()[at]);
    }
    if (isSigned)
      return buffer.as<int8_t>()[at] = int8_t(value);
    return buffer.as<uint8_t>()[at] = uint8_t(std::min(value, 255.0));
  }

  void run(mille_kernel_function kernel, int64_t m0, int64_t m1, int64_t n0,
           int64_t n1) {
    const int32_t panel = int32_t(c.panel);
    int32_t line = int32_t(c.panel * c.group()), steps = int32_t(c.steps());
    std::vector<Argument> inputs = {
        matrix(input.as<char>() + m0 * c.inStride() * c.each(), m1 - m0,
               c.inner, c.inStride()),
        {weight.data(),
         {{0, line, 1, 0},
          {0, steps, line, 0},
          {0, int32_t(c.panels()), line * steps, 0}}}};
    if (c.bytes) {
      inputs.push_back(matrix(parameters.as<float>() + m0 * 4, m1 - m0, 4, 4));
      inputs.push_back({sums.data(),
                        {{0, panel, 1, 0},
                         {0, 1, panel, 0},
                         {0, int32_t(c.panels()), panel, 0}}});
    }
    int64_t outBytes = c.narrow ? 2 : 4, first = m0 * c.outStride();
    inputs.push_back(matrix(extra.as<char>() + first * outBytes, m1 - m0,
                            c.columns, c.outStride()));
    Argument range = matrix(out.as<char>() + (first + n0) * outBytes, m1 - m0,
                            n1 - n0, c.outStride());
    range.dimensions[0].min = int32_t(n0);
    expect(call(kernel, inputs, {}, range) == 0, c.name() + ": status");
  }

  std::vector<char> bits() const {
    const char *first = out.as<char>();
    return {first, first + out.size() * (c.narrow ? 2 : 4)};
  }
};

double allowed(const Case &c, double expected, double terms) {
  static const double bytes = toleranceOf("kernel_bytes").relative,
                      pairs = toleranceOf("kernel_pairs").relative,
                      toBf16 = toleranceOf("kernel_to_bf16").relative,
                      toF32 = toleranceOf("reference_rounded").relative;
  static const Tolerance gelu = toleranceOf("kernel_gelu"),
                         geluOfBf16 = toleranceOf("kernel_gelu_bf16");
  // Of hostile numbers none is near 1: their magnitudes are added up.
  double products =
      c.bytes ? bytes * terms
              : pairs * double(c.inner + 5) * (c.hostile ? terms : 1.0);
  products += c.hostile ? 1e-36 : 0; // subnormal numbers may be lost
  const double rounding = (c.narrow ? toBf16 : toF32) * std::fabs(expected);
  if (!c.gelu)
    return products + rounding;
  const Tolerance &own = c.narrow ? geluOfBf16 : gelu;
  return 1.13 * products + // its slope is up to that
         own.relative * std::fabs(expected) + own.absolute + rounding;
}

void checkValues(const Data &data) {
  const Case &c = data.c;
  for (int64_t m = 0; m < data.rows; ++m)
    for (int64_t n = 0; n < c.columns; ++n) {
      double got = read(data.out, m * c.outStride() + n, c.narrow);
      double want = data.expected[m * c.columns + n];
      const double most = allowed(c, want, data.terms[m * c.columns + n]);
      if (std::isfinite(want) ? !(std::fabs(got - want) <= most)
                              : std::isfinite(got))
        return expect(false, c.name() + ": [" + number(m) + ", " + number(n) +
                                 "] is " + std::to_string(got) +
                                 " but must be " + std::to_string(want));
    }
}

void check(const Case &c, const Target &isa) {
  ParsedKernel parsed(c.text());
  mille_kernel_function many = load(parsed, isa, RowClass::many), few = many;
  if (kernelSymbol(parsed.info, isa, RowClass::few) !=
      kernelSymbol(parsed.info, isa, RowClass::many))
    few = load(parsed, isa, RowClass::few);
  int64_t unit = parsed.info.columnUnit;
  // The runtime calls the kernel of many rows for no fewer rows than this.
  const int64_t least = many == few ? 1 : parsed.info.fewRows + 1;
  for (int64_t rows : {1, 5, 6, 13, 20, 31, 43, 75})
    for (auto side : {Guarded::Side::end, Guarded::Side::start}) {
      Data data(c, rows, side);
      auto clear = [&] { memset(data.out.data(), 0xff, data.bits().size()); };
      clear();
      data.run(few, 0, rows, 0, c.columns);
      checkValues(data);
      const std::vector<char> whole = data.bits(); // with what is between rows
      if (rows >= least) {
        clear();
        data.run(many, 0, rows, 0, c.columns);
        expect(whole == data.bits(),
               c.name() + ": bits differ between classes");
      }
      clear();
      for (int64_t n = 0; n < c.columns; n += unit)
        for (int64_t m = 0, part = 0; m < rows; m += part) {
          part =
              std::min(rows - m, m >= 6 ? std::max<int64_t>(least, 20) + m % 5
                                        : 1 + m % 5);
          data.run(part < least ? few : many, m, m + part, n,
                   std::min(c.columns, n + unit));
        }
      expect(whole == data.bits(), c.name() + ": bits differ between ranges");
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
  const bool onlyBytes = argc > 3 && std::string(argv[3]) == "bytes";
  for (bool bytes : {false, true}) {
    if (onlyBytes && !bytes)
      continue;
    for (int64_t inner : {1, 7, 64, 130})
      judge({bytes, false, inner, 100, 1});
    for (int64_t columns : {1, 64, 129})
      judge({bytes, true, 40, columns, 1});
    judge({bytes, true, 133, 65, 2});
    for (bool narrow : {false, true})
      judge({bytes, narrow, 130, 100, 1, 48, /*gelu=*/false, /*hostile=*/true});
    for (bool narrow : {false, true})
      judge({bytes, narrow, 130, 100, 1, 48, /*gelu=*/true});
    for (int accumulators = 1; bytes && accumulators <= 2; ++accumulators)
      judge({bytes, false, 131, 100, accumulators, 64, /*gelu=*/false,
             /*hostile=*/false, /*extreme=*/true});
    for (int64_t panel : {48, 64}) // bf16: K in chunks
      judge({bytes, false, 3072, panel + 1, 1, panel});
    for (int64_t columns : {47, 100})
      judge({bytes, true, 130, columns, 1, 48});
  }
  printf("%d failures\n", failures);
  return failures != 0;
}
