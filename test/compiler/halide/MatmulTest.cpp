// Compares kernel.matmul with double at odd sizes: rows, columns, ranges, row
// classes, epilogues, instruction sets; every buffer ends at a guard page.
//
// REQUIRES: x86-64-v4
// RUN: %programs/kernel-matmul widest
#include "compiler/interpret/Judge.h"
#include "test/compiler/halide/Inputs/LoadedKernel.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>

using namespace mille;
using namespace mille::test;

namespace {

int failures = 0;

struct Case {
  const char *name;
  int64_t inner, columns;
  int accumulators;
  std::vector<std::string> extras; // memref types
  const char *region;              // text of the epilogue
  // accumulators, then extras, in double
  std::function<double(std::vector<double>)> meaning;
  int64_t panel = 64;

  double bound() const { // of 1 + |expected|
    return accumulators *
           toleranceOf(inner > 64 ? "kernel_long_product" : "kernel_product")
               .relative;
  }
};

struct Sizes {
  int64_t panels, perPanel, inStride, outStride;
};

Sizes sizesOf(const Case &c) {
  int64_t per = c.panel / c.accumulators;
  return {(c.columns + per - 1) / per, per, (c.inner + 15) / 16 * 16,
          (c.columns + 15) / 16 * 16};
}

std::string stridedRows(int64_t columns, int64_t stride) {
  std::string size = std::to_string(columns);
  if (stride == columns)
    return "memref<?x" + size + "xf32>";
  return "memref<?x" + size + "xf32, strided<[" + std::to_string(stride) +
         ", 1]>>";
}

std::string textOf(const Case &c) {
  Sizes s = sizesOf(c);
  std::string x = stridedRows(c.inner, s.inStride);
  std::string w = "memref<" + std::to_string(s.panels) + "x" +
                  std::to_string(c.inner) + "x" + std::to_string(c.panel) +
                  "xf32>";
  std::string o = stridedRows(c.columns, s.outStride);
  std::string names, types, signature;
  for (size_t i = 0; i < c.extras.size(); ++i) {
    std::string name = "%extra" + std::to_string(i);
    names += (i ? ", " : "") + name;
    types += (i ? ", " : "") + c.extras[i];
    signature += ", " + name + ": " + c.extras[i];
  }
  std::string extras =
      names.empty() ? "" : " extras(" + names + " : " + types + ")";
  return "func.func @f(%in: " + x + ", %weight: " + w + signature +
         ", %out: " + o + ") {\n kernel.matmul %in, %weight" + extras +
         " outs(%out : " + o + ") accumulators " +
         std::to_string(c.accumulators) + " {\n" + c.region + "\n } : " + x +
         ", " + w + "\n return\n}\n";
}

// Data of one case, made once: inputs and the expected out, in double.
struct Data {
  Guarded input, weight, out;
  std::vector<Guarded> extras;
  std::vector<Argument> arguments;
  std::vector<double> expected;
  int64_t rows, columns, outStride;

  Data(const Case &c, int64_t rows, Guarded::Side side)
      : input((rows - 1) * sizesOf(c).inStride + c.inner, side),
        weight(sizesOf(c).panels * c.inner * c.panel, side),
        out((rows - 1) * sizesOf(c).outStride + c.columns, side), rows(rows),
        columns(c.columns), outStride(sizesOf(c).outStride) {
    std::mt19937 random(unsigned(c.inner * 7919 + rows));
    std::uniform_real_distribution<float> draw(-1, 1);
    Sizes s = sizesOf(c);
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t k = 0; k < c.inner; ++k)
        input[m * s.inStride + k] = draw(random);
    // [accumulators * N, K] -> panels
    std::vector<float> plain(c.accumulators * c.columns * c.inner);
    for (float &value : plain)
      value = draw(random);
    for (size_t i = 0; i < weight.size(); ++i)
      weight[i] = 0;
    for (int a = 0; a < c.accumulators; ++a)
      for (int64_t n = 0; n < c.columns; ++n)
        for (int64_t k = 0; k < c.inner; ++k)
          weight[((n / s.perPanel) * c.inner + k) * c.panel + a * s.perPanel +
                 n % s.perPanel] = plain[(a * c.columns + n) * c.inner + k];
    arguments.push_back(matrix(input.data(), rows, c.inner, s.inStride));
    const int32_t panel = int32_t(c.panel);
    arguments.push_back(
        {weight.data(),
         {{0, panel, 1, 0},
          {0, int32_t(c.inner), panel, 0},
          {0, int32_t(s.panels), int32_t(panel * c.inner), 0}}});
    std::vector<std::function<double(int64_t, int64_t)>> read;
    extras.reserve(c.extras.size());
    for (const std::string &type : c.extras) {
      bool element = type.find("?x" + std::to_string(c.columns) + "x") !=
                     std::string::npos;
      bool row = !element && type.find("?x1x") != std::string::npos;
      bool scalar = type == "memref<1xf32>";
      int64_t count = element  ? rows * c.columns
                      : row    ? rows
                      : scalar ? 1
                               : c.columns;
      extras.emplace_back(count, side);
      float *data = extras.back().data();
      for (int64_t i = 0; i < count; ++i)
        data[i] = draw(random);
      if (element) {
        arguments.push_back(matrix(data, rows, c.columns, c.columns));
        read.push_back(
            [=](int64_t m, int64_t n) { return data[m * c.columns + n]; });
      } else if (row) {
        arguments.push_back(matrix(data, rows, 1, 1));
        read.push_back([=](int64_t m, int64_t) { return data[m]; });
      } else {
        arguments.push_back(mille::test::vector(data, count));
        read.push_back(
            [=](int64_t, int64_t n) { return data[scalar ? 0 : n]; });
      }
    }
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t n = 0; n < c.columns; ++n) {
        std::vector<double> values;
        for (int a = 0; a < c.accumulators; ++a) {
          double sum = 0;
          for (int64_t k = 0; k < c.inner; ++k)
            sum += double(input[m * s.inStride + k]) *
                   plain[(a * c.columns + n) * c.inner + k];
          values.push_back(sum);
        }
        for (auto &extra : read)
          values.push_back(extra(m, n));
        expected.push_back(c.meaning(values));
      }
  }

  void poison() {
    uint32_t bits = Guarded::poison();
    for (size_t i = 0; i < out.size(); ++i)
      memcpy(&out[i], &bits, 4);
  }

  // Runs on a range of the out and leaves the rest alone.
  int32_t run(mille_kernel_function kernel, int64_t m0, int64_t m1, int64_t n0,
              int64_t n1) {
    Argument range =
        matrix(&out[m0 * outStride + n0], m1 - m0, n1 - n0, outStride);
    range.dimensions[0].min = int32_t(n0);
    range.dimensions[1].min = int32_t(m0);
    return call(kernel, arguments, {}, range);
  }

  std::vector<uint32_t> bits() const {
    std::vector<uint32_t> all(out.size());
    memcpy(all.data(), out.data(), all.size() * 4);
    return all;
  }
};

void expect(bool holds, const Case &c, const Target &isa, int64_t rows,
            const std::string &what) {
  if (holds)
    return;
  ++failures;
  printf("%s %s rows %ld: %s\n", c.name, isa.name.c_str(), long(rows),
         what.c_str());
}

// The whole out is right, and padding between rows is untouched.
void checkValues(const Case &c, const Target &isa, Data &data) {
  double worst = 0;
  for (int64_t m = 0; m < data.rows; ++m)
    for (int64_t n = 0; n < data.outStride; ++n) {
      if (size_t(m * data.outStride + n) >= data.out.size())
        break;
      float got = data.out[m * data.outStride + n];
      uint32_t bits;
      memcpy(&bits, &got, 4);
      if (n >= data.columns) {
        expect(bits == Guarded::poison(), c, isa, data.rows, "padding written");
        continue;
      }
      double want = data.expected[m * data.columns + n];
      double error = std::fabs(got - want) / (1 + std::fabs(want));
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
  expect(worst <= c.bound(), c, isa, data.rows,
         "error " + std::to_string(worst));
}

void check(const Case &c, const Target &isa) {
  ParsedKernel parsed(textOf(c));
  mille_kernel_function many = load(parsed, isa, RowClass::many);
  mille_kernel_function few =
      kernelSymbol(parsed.info, isa, RowClass::few) ==
              kernelSymbol(parsed.info, isa, RowClass::many)
          ? many
          : load(parsed, isa, RowClass::few);
  const Sizes s = sizesOf(c);
  const bool small = s.panels * c.panel * c.inner * 4 <= 16 << 10;
  expect(!(isa.features & MILLE_CPU_AVX512) || small == (many == few), c, isa,
         0, "classes of rows");
  int64_t unit = parsed.info.columnUnit;
  // The runtime calls the kernel of many rows for no fewer rows than this.
  const int64_t least = many == few ? 1 : parsed.info.fewRows + 1;
  for (int64_t rows :
       {1, 2, 3, 5, 6, 7, 9, 11, 12, 13, 17, 19, 20, 21, 25, 31, 41, 42, 103}) {
    for (auto side : {Guarded::Side::end, Guarded::Side::start}) {
      Data data(c, rows, side);
      expect(data.run(few, 0, rows, 0, c.columns) == 0, c, isa, rows, "status");
      checkValues(c, isa, data);
      std::vector<uint32_t> whole = data.bits();
      if (rows >= least) {
        data.poison();
        expect(data.run(many, 0, rows, 0, c.columns) == 0, c, isa, rows,
               "status");
        expect(data.bits() == whole, c, isa, rows,
               "bits differ between classes");
      }
      // pieces: columns in units, rows in unequal parts, either class
      data.poison();
      for (int64_t n = 0; n < c.columns; n += unit)
        for (int64_t m = 0, part = 0; m < rows; m += part) {
          part =
              std::min(rows - m, m >= 20 ? std::max<int64_t>(least, 20) + m % 5
                                         : 1 + m % 5);
          data.run(part < least ? few : many, m, m + part, n,
                   std::min(c.columns, n + unit));
        }
      expect(data.bits() == whole, c, isa, rows, "bits differ between ranges");
    }
  }
}

// Every tile that the kernel may have gives the same bits as the model's tile,
// whose values `check` compares.
void checkRanks(const Case &c, const Target &isa) {
  ParsedKernel parsed(textOf(c));
  const size_t ranks = generators().tiles(parsed.op, isa).size();
  expect(ranks > 2, c, isa, 0, "few tiles to choose from");
  mille_kernel_function model = load(parsed, isa, RowClass::many);
  for (unsigned rank = 1; rank < ranks; ++rank) {
    mille_kernel_function other = load(parsed, isa, RowClass::many, rank);
    for (int64_t rows : {1, 5, 13, 16, 19, 20, 31, 41, 42, 103}) {
      if (isa.features & MILLE_CPU_AVX512 && rows <= parsed.info.fewRows)
        continue; // not of this class
      Data data(c, rows, Guarded::Side::end);
      data.run(model, 0, rows, 0, c.columns);
      std::vector<uint32_t> whole = data.bits();
      data.poison();
      expect(data.run(other, 0, rows, 0, c.columns) == 0, c, isa, rows,
             "status");
      expect(data.bits() == whole, c, isa, rows,
             "bits differ with tile " + std::to_string(rank));
    }
  }
}

const char *plain = "^bb0(%a: f32):\n kernel.yield %a : f32";
const char *geluRegion = R"(^bb0(%a: f32, %b: f32):
  %x = arith.addf %a, %b : f32
  %c = arith.constant -0.70710678118654757 : f32
  %h = arith.constant 0.5 : f32
  %t = arith.mulf %x, %c : f32
  %e = math.erfc %t : f32
  %y = arith.mulf %x, %h : f32
  %z = arith.mulf %y, %e : f32
  kernel.yield %z : f32)";
const char *residualRegion =
    R"(^bb0(%a: f32, %b: f32, %r: f32, %s: f32, %v: f32):
  %x = arith.addf %a, %b : f32
  %t = arith.mulf %x, %s : f32
  %q = arith.mulf %r, %v : f32
  %y = arith.addf %t, %q : f32
  kernel.yield %y : f32)";
const char *gatedRegion = R"(^bb0(%g: f32, %u: f32):
  %one = arith.constant 1.0 : f32
  %n = arith.negf %g : f32
  %e = math.exp %n : f32
  %d = arith.addf %e, %one : f32
  %s = arith.divf %g, %d : f32
  %y = arith.mulf %s, %u : f32
  kernel.yield %y : f32)";
const char *reluRegion = R"(^bb0(%a: f32, %b: f32):
  %x = arith.addf %a, %b : f32
  %z = arith.constant 0.0 : f32
  %y = arith.maximumf %x, %z : f32
  kernel.yield %y : f32)";

double geluOf(const std::vector<double> &v) {
  double x = v[0] + v[1];
  return 0.5 * x * std::erfc(-x * M_SQRT1_2);
}
double siluGate(const std::vector<double> &v) {
  return v[0] / (1 + std::exp(-v[0])) * v[1];
}

// Of every kind of epilogue, or of those that a size changes.
void addCases(int64_t columns, int64_t panel, bool every,
              std::vector<Case> &cases) {
  const std::string n = std::to_string(columns);
  const std::string column = "memref<" + n + "xf32>",
                    element = "memref<?x" + n + "xf32>";
  const std::vector<std::string> four{column, element, "memref<?x1xf32>",
                                      "memref<1xf32>"};
  auto residual = [](auto v) { return (v[0] + v[1]) * v[3] + v[2] * v[4]; };
  cases.push_back(
      {"plain", 37, columns, 1, {}, plain, [](auto v) { return v[0]; }, panel});
  if (columns == 129) // K in chunks, in one of the two classes
    cases.push_back(
        {"chunks", 1536, columns, 1, four, residualRegion, residual, panel});
  if (!every)
    return;
  // Wide weights are not small (Tiles.h): they have classes of rows.
  const bool wide = columns >= 100;
  const int64_t one = wide ? 41 : 1, eight = wide ? 40 : 8;
  cases.push_back({"gelu",
                   wide ? 40 : 24,
                   columns,
                   1,
                   {column},
                   geluRegion,
                   geluOf,
                   panel});
  cases.push_back(
      {"residual", eight, columns, 1, four, residualRegion, residual, panel});
  cases.push_back({"relu",
                   one,
                   columns,
                   1,
                   {column},
                   reluRegion,
                   [](auto v) { return std::max(0.0, v[0] + v[1]); },
                   panel});
  if (panel % 32 == 0) // whole vectors of both
    cases.push_back(
        {"gated", 33, columns, 2, {}, gatedRegion, siluGate, panel});
}

} // namespace

int main(int argc, char **argv) {
  std::vector<Case> cases;
  for (int64_t columns : {1, 7, 63, 64, 65, 100, 129})
    addCases(columns, 64, columns == 1 || columns == 64 || columns == 100,
             cases);
  for (int64_t columns : {47, 48, 129})
    addCases(columns, 48, columns == 129, cases);
  const Target &isa = isaToTest(argc, argv);
  const bool everyTile = argc > 2 && std::string(argv[2]) == "ranks";
  for (const Case &c : cases)
    if (!everyTile)
      check(c, isa);
    else if (c.columns >= 100)
      checkRanks(c, isa);
  printf("%d failures\n", failures);
  return failures != 0;
}
