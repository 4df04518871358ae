// Compares kernel.rows with double: all kinds of reads, gathers, norms, odd
// widths, ranges of rows; every buffer ends at a guard page.
//
// REQUIRES: x86-64-v4
// RUN: %programs/kernel-rows widest
#include "compiler/interpret/Judge.h"
#include "test/compiler/halide/Inputs/LoadedKernel.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

using namespace mille;
using namespace mille::test;

namespace {

int failures = 0;

struct Case {
  const char *name;
  int64_t columns;
  const char *norm;      // "", or text of the attribute
  bool gathered = false; // input 0 is a table
  bool affine = false;   // times a column, plus an element input
};

constexpr int64_t entries = 9;

std::string rowsType(int64_t columns, int64_t stride) {
  return "memref<?x" + std::to_string(columns) + "xf32, strided<[" +
         std::to_string(stride) + ", 1]>>";
}
int64_t strideOf(const Case &c) { return (c.columns + 15) / 16 * 16 + 16; }

std::string textOf(const Case &c) {
  std::string n = std::to_string(c.columns),
              o = rowsType(c.columns, strideOf(c));
  std::string x =
      c.gathered ? "memref<" + std::to_string(entries) + "x" + n + "xf32>" : o;
  std::string w = "memref<" + n + "xf32>", r = "memref<?x" + n + "xf32>";
  std::string text = "func.func @f(%x: " + x + ", %w: " + w + ", %r: " + r +
                     ", %i: memref<?xi32>, %o: " + o +
                     ") {\n kernel.rows ins(%x";
  text += c.affine ? ", %w, %r : " + x + ", " + w + ", " + r : " : " + x;
  text += ")";
  if (c.gathered)
    text += " indices(%i : memref<?xi32>)";
  text += " outs(%o : " + o + ") gather [" + (c.gathered ? "0" : "-1") +
          (c.affine ? ", -1, -1]" : "]");
  if (*c.norm)
    text += std::string(" norm ") + c.norm;
  text += " {\n";
  text +=
      c.affine
          ? "^bb0(%a: f32, %g: f32, %e: f32):\n %p = arith.mulf %a, %g : f32\n"
            " %s = arith.addf %p, %e : f32\n kernel.yield %s : f32\n"
          : "^bb0(%a: f32):\n kernel.yield %a : f32\n";
  return text + " }\n return\n}\n";
}

void expect(bool holds, const Case &c, const Target &isa, int64_t rows,
            const std::string &what) {
  if (holds)
    return;
  ++failures;
  printf("%s %s columns %ld rows %ld: %s\n", c.name, isa.name.c_str(),
         long(c.columns), long(rows), what.c_str());
}

// Row m of input 0, normed, in double.
std::vector<double> normed(const Case &c, const float *x) {
  const int64_t n = c.columns;
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < n; ++i)
    sum += x[i];
  std::string norm = c.norm;
  double mean = norm.find("layer") != std::string::npos ? sum / n : 0;
  for (int64_t i = 0; i < n; ++i)
    squares += (x[i] - mean) * (x[i] - mean);
  double scale = 1;
  if (norm.find("l2") != std::string::npos)
    scale = 1 / std::max(std::sqrt(squares), 1e-5);
  else if (!norm.empty())
    scale = 1 / std::sqrt(squares / n + 1e-5);
  std::vector<double> y;
  for (int64_t i = 0; i < n; ++i)
    y.push_back((x[i] - mean) * scale);
  return y;
}

void check(const Case &c, const Target &isa) {
  const double bound = toleranceOf("kernel_normed").relative;
  ParsedKernel parsed(textOf(c));
  mille_kernel_function kernel = load(parsed, isa, RowClass::many);
  const int64_t n = c.columns, stride = strideOf(c);
  for (int64_t rows : {1, 2, 7, 17})
    for (auto side : {Guarded::Side::end, Guarded::Side::start}) {
      std::mt19937 random(unsigned(n * 131 + rows));
      std::uniform_real_distribution<float> draw(-3, 5);
      int64_t inStride = c.gathered ? n : stride,
              inRows = c.gathered ? entries : rows;
      Guarded x((inRows - 1) * inStride + n, side), w(n, side),
          r(rows * n, side), index(rows, side),
          out((rows - 1) * stride + n, side);
      for (int64_t m = 0; m < inRows; ++m)
        for (int64_t i = 0; i < n; ++i)
          x[m * inStride + i] = draw(random);
      for (int64_t i = 0; i < n; ++i)
        w[i] = draw(random);
      for (int64_t i = 0; i < rows * n; ++i)
        r[i] = draw(random);
      auto *indices = reinterpret_cast<int32_t *>(index.data());
      for (int64_t m = 0; m < rows; ++m)
        indices[m] = int32_t(random() % entries);
      std::vector<Argument> arguments{matrix(x.data(), inRows, n, inStride)};
      if (c.affine) {
        arguments.push_back(mille::test::vector(w.data(), n));
        arguments.push_back(matrix(r.data(), rows, n, n));
      }
      if (c.gathered)
        arguments.push_back(mille::test::vector(indices, rows));
      auto run = [&](int64_t m0, int64_t m1) {
        Argument range = matrix(&out[m0 * stride], m1 - m0, n, stride);
        range.dimensions[1].min = int32_t(m0);
        return call(kernel, arguments, {}, range);
      };
      expect(run(0, rows) == 0, c, isa, rows, "status");
      double worst = 0;
      for (int64_t m = 0; m < rows; ++m) {
        std::vector<double> y =
            normed(c, &x[(c.gathered ? indices[m] : m) * inStride]);
        for (int64_t i = 0; i < stride && size_t(m * stride + i) < out.size();
             ++i) {
          float got = out[m * stride + i];
          uint32_t bits;
          memcpy(&bits, &got, 4);
          if (i >= n) {
            expect(bits == Guarded::poison(), c, isa, rows, "padding written");
            continue;
          }
          double want = c.affine ? y[i] * w[i] + r[m * n + i] : y[i];
          double error = std::fabs(got - want) / (1 + std::fabs(want));
          worst = std::isnan(error) ? INFINITY : std::max(worst, error);
        }
      }
      expect(worst < bound, c, isa, rows, "error " + std::to_string(worst));
      std::vector<uint32_t> whole(out.size()), parts(out.size());
      memcpy(whole.data(), out.data(), out.size() * 4);
      for (size_t i = 0; i < out.size(); ++i)
        out[i] = NAN;
      for (int64_t m = 0; m < rows; m += 1 + m % 3)
        run(m, std::min(rows, m + 1 + m % 3));
      memcpy(parts.data(), out.data(), out.size() * 4);
      for (int64_t m = 0; m < rows; ++m)
        expect(!memcmp(&parts[m * stride], &whole[m * stride], n * 4), c, isa,
               rows, "bits differ between ranges");
    }
}

} // namespace

int main(int argc, char **argv) {
  const Target &isa = isaToTest(argc, argv);
  for (int64_t columns : {1, 7, 15, 16, 17, 64, 100, 256, 300}) {
    check({"copy", columns, ""}, isa);
    check({"gather", columns, "", true, true}, isa);
    check({"layer", columns, "<layer, 1.000000e-05>", false, true}, isa);
    check({"rms", columns, "<rms, 1.000000e-05>", true}, isa);
    check({"l2", columns, "<l2, 1.000000e-05>"}, isa);
  }
  printf("%d failures\n", failures);
  return failures != 0;
}
