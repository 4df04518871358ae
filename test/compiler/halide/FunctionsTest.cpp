// The functions of scalar regions against double, in ulps over their whole
// range, and their special values. `every N` takes each N-th float of the range
// in place of evenly spaced numbers: 1 is all of them (tools/check-long.sh). A
// last word names the function.
//
// REQUIRES: x86-64-v4
// RUN: %programs/kernel-functions widest
#include "test/compiler/halide/Inputs/LoadedKernel.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <utility>

using namespace mille;
using namespace mille::test;

namespace {

int failures = 0;

constexpr double smallestNormal = 1.17549435e-38;

// Distance of neighbouring floats at x, of the smallest normal below it.
double ulpAt(double x) {
  float f = std::max(std::fabs(float(x)), float(smallestNormal));
  return double(std::nextafterf(f, INFINITY)) - f;
}

struct Range {
  float from, to;
  double ulps;     // bound, where relative is 0
  double relative; // bound, where not 0
};
struct Function {
  const char *op;
  std::function<double(double)> meaning;
  std::vector<Range> ranges;
  std::vector<std::pair<float, float>>
      special; // argument, value (NaN: any NaN)
};

// x Phi(x) as the compiler writes it; kernels know it by this form.
const char *gelu =
    "%h = arith.constant 0.5 : f32\n"
    " %c = arith.constant -0.70710678118654757 : f32\n"
    " %p = arith.mulf %h, %a : f32\n %t = arith.mulf %c, %a : f32\n"
    " %e = math.erfc %t : f32\n %y = arith.mulf %p, %e : f32\n";

// Its derivative, as the compiler makes it.
const char *geluSlope =
    "%h = arith.constant 0.5 : f32\n"
    " %c = arith.constant -0.70710678118654757 : f32\n"
    " %p = arith.mulf %h, %a : f32\n %t = arith.mulf %c, %a : f32\n"
    " %e = math.erfc %t : f32\n %s = arith.mulf %t, %t : f32\n"
    " %m = arith.constant -1.0 : f32\n %n = arith.mulf %m, %s : f32\n"
    " %b = math.exp %n : f32\n %d = arith.mulf %b, %c : f32\n"
    " %k = arith.constant -1.1283791670955126 : f32\n"
    " %f = arith.mulf %k, %d : f32\n %q = arith.mulf %h, %e : f32\n"
    " %r = arith.mulf %p, %f : f32\n %y = arith.addf %q, %r : f32\n";

std::string nameOf(const Function &f) {
  return f.op == gelu ? "gelu" : f.op == geluSlope ? "gelu_slope" : f.op;
}

// One kernel.rows that applies the op, or lines that give %y, to every element.
std::string textOf(const std::string &op) {
  const char *type = "memref<?x64xf32>";
  return std::string("func.func @f(%x: ") + type + ", %o: " + type +
         ") {\n kernel.rows ins(%x : " + type + ") outs(%o : " + type +
         ") gather [-1] {\n^bb0(%a: f32):\n " +
         (op == gelu || op == geluSlope ? op : "%y = " + op + " %a : f32\n") +
         " kernel.yield %y : f32\n }\n return\n}\n";
}

// Floats in their order: neighbours differ by 1.
int64_t placeOf(float x) {
  int32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits < 0 ? int64_t(INT32_MIN) - bits : bits;
}

float floatAt(int64_t place) {
  int32_t bits = int32_t(place < 0 ? int64_t(INT32_MIN) - place : place);
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

constexpr int64_t count = 1 << 17;

// Gives the arguments of one call after the other; false: there are no more.
class Arguments {
public:
  Arguments(const Range &range, int64_t step)
      : range(range), step(step), next(placeOf(range.from)) {}

  bool fill(std::vector<float> &x) {
    if (!step) {
      for (int64_t i = 0; i < count; ++i)
        x[i] = range.from +
               (range.to - range.from) * float((double(i) + 0.5) / count);
      return !std::exchange(done, true);
    }
    const int64_t last = placeOf(range.to);
    if (next > last)
      return false;
    for (float &one : x) {
      one = floatAt(std::min(next, last));
      next += step;
    }
    return true;
  }

private:
  const Range &range;
  const int64_t step; // 0: evenly spaced numbers, once
  int64_t next;
  bool done = false;
};

void check(const Function &f, const Target &isa, int64_t step) {
  ParsedKernel parsed(textOf(f.op));
  mille_kernel_function kernel = load(parsed, isa, RowClass::many);
  std::vector<float> x(count), y(count);
  auto run = [&] {
    call(kernel, {matrix(x.data(), count / 64, 64, 64)}, {},
         matrix(y.data(), count / 64, 64, 64));
  };
  for (const Range &range : f.ranges) {
    double worst = 0, at = 0;
    for (Arguments arguments(range, step); arguments.fill(x);) {
      run();
      for (int64_t i = 0; i < count; ++i) {
        double want = f.meaning(x[i]), error = std::fabs(y[i] - want);
        error /= range.relative ? std::max(std::fabs(want), smallestNormal)
                                : ulpAt(want);
        if (!(error <= worst)) {
          worst = std::isnan(error) ? INFINITY : error;
          at = x[i];
        }
      }
    }
    double bound = range.relative ? range.relative : range.ulps;
    printf("%-10s [%g, %g] worst %.3g %s at %.9g, bound %g\n",
           nameOf(f).c_str(), range.from, range.to, worst,
           range.relative ? "relative" : "ulp", at, bound);
    fflush(stdout);
    failures += !(worst <= bound);
  }
  for (auto [argument, value] : f.special) {
    std::fill(x.begin(), x.end(), argument);
    run();
    for (int i = 0; i < 64; ++i) {
      bool right = std::isnan(value) ? std::isnan(y[i]) : y[i] == value;
      if (!right) {
        printf("%s(%g) is %g but must be %g\n", f.op, argument, y[i], value);
        ++failures;
        break;
      }
    }
  }
}

} // namespace

int main(int argc, char **argv) {
  const Target &isa = isaToTest(argc, argv);
  const bool every = argc > 3 && !std::strcmp(argv[2], "every");
  const int64_t step = every ? std::atoll(argv[3]) : 0;
  const float inf = INFINITY, nan = NAN;
  std::vector<Function> functions{
      {"math.exp",
       [](double x) { return std::exp(x); },
       {{-87, 88.7f, 2, 0}, {-1, 1, 2, 0}, {-103, -87, 2, 0}},
       {{0, 1}, {100, inf}, {-1000, 0}, {inf, inf}, {-inf, 0}, {nan, nan}}},
      {"math.exp2",
       [](double x) { return std::exp2(x); },
       {{-126, 127.9f, 2, 0}, {-1, 1, 2, 0}},
       {{0, 1},
        {10, 1024},
        {200, inf},
        {-1000, 0},
        {inf, inf},
        {-inf, 0},
        {nan, nan}}},
      {"math.tanh",
       [](double x) { return std::tanh(x); },
       {{-1, 1, 4, 0}, {-10, 10, 4, 0}, {-1e-3f, 1e-3f, 2, 0}},
       {{0, 0}, {50, 1}, {-50, -1}, {inf, 1}, {-inf, -1}, {nan, nan}}},
      {"math.erf",
       [](double x) { return std::erf(x); },
       {{-1, 1, 4, 0}, {-6, 6, 8, 0}},
       {{0, 0}, {50, 1}, {-inf, -1}, {inf, 1}, {nan, nan}}},
      {"math.erfc",
       [](double x) { return std::erfc(x); },
       {{-6, 0, 0, 1e-6},
        {0, 2, 0, 1.5e-6},
        {2, 4.2f, 0, 5e-6},
        {4.2f, 9, 0, 2e-2}},
       {{-10, 2}, {50, 0}, {inf, 0}, {-inf, 2}, {nan, nan}}},
      {"math.log",
       [](double x) { return std::log(x); },
       {{0.5f, 2, 4, 0}, {2, 3e38f, 2, 0}, {1e-38f, 0.5f, 2, 0}},
       {{1, 0}, {0, -inf}, {-1, nan}, {inf, inf}, {nan, nan}}},
      {"math.sin",
       [](double x) { return std::sin(x); },
       {{-3, 3, 8, 0}, {0.5f, 1.5f, 2, 0}},
       {{0, 0}, {nan, nan}}},
      {"math.cos",
       [](double x) { return std::cos(x); },
       {{-1.5f, 1.5f, 8, 0}},
       {{0, 1}, {nan, nan}}},
      {gelu,
       [](double x) { return 0.5 * x * std::erfc(-x * M_SQRT1_2); },
       {{-5.9f, 0, 0, 4e-6}, {0, 10, 8.5, 0}},
       {{0, 0}, {100, 100}, {inf, inf}, {nan, nan}}},
      {geluSlope,
       [](double x) {
         return 0.5 * std::erfc(-x * M_SQRT1_2) +
                x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
       },
       {{-1.5f, -1, 0, 2e-6}, {-0.7f, 0, 0, 5e-6}, {0, 100, 5, 0}},
       {{100, 1}, {nan, nan}}},
      {"math.sqrt",
       [](double x) { return std::sqrt(x); },
       {{0, 100, 1, 0}},
       {{0, 0}, {4, 2}, {inf, inf}}},
      {"math.rsqrt",
       [](double x) { return 1 / std::sqrt(x); },
       {{1e-3f, 100, 2, 0}},
       {{4, 0.5f}}},
  };
  for (const Function &f : functions)
    if (argc < 5 || nameOf(f).find(argv[4]) != std::string::npos)
      check(f, isa, step);
  printf("%d failures\n", failures);
  return failures != 0;
}
