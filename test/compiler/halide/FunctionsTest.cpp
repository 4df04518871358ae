// The functions of scalar regions against double, in ulps over their whole
// range, and their special values. At the infinities a function has its limit,
// though its formula has a 0 that meets one there. `every N` takes each N-th
// float of the range in place of evenly spaced numbers, `all N` each N-th of
// the 2^32 floats: 1 is all of them (tools/check-long.sh). A last word names
// the function. Ranges and bounds are those of tolerances.json.
//
// REQUIRES: x86-64-v4
// RUN: %programs/kernel-functions widest
// RUN: %programs/kernel-functions widest all 4099
#include "dialects/transformer/Activation.h"
#include "test/compiler/halide/Inputs/LoadedKernel.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <utility>

using namespace mille;
using namespace mille::test;
using namespace mille::transformer;

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
  std::vector<std::pair<float, float>>
      special; // argument, value (NaN: any NaN)
};
struct Bounds {
  std::vector<Range> ranges;
  // Of all floats: so many ulps, or so far, whichever is more.
  double ulps, absolute, within;
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
  return f.op == gelu        ? "gelu"
         : f.op == geluSlope ? "gelu_slope"
                             : f.op + strlen("math.");
}

// The function's row. A row or a bound that is not there ends the process.
Bounds boundsOf(const Function &f) {
  auto file = llvm::MemoryBuffer::getFile(MILLE_TOLERANCES);
  const llvm::json::Value whole =
      llvm::cantFail(llvm::json::parse((*file)->getBuffer()));
  for (const llvm::json::Value &value :
       *whole.getAsObject()->getArray("functions")) {
    const llvm::json::Object &row = *value.getAsObject();
    if (row.getString("name") != nameOf(f))
      continue;
    const llvm::json::Object &all = *row.getObject("all");
    Bounds bounds{{},
                  *all.getNumber("ulps"),
                  all.getNumber("absolute").value_or(0),
                  all.getNumber("within").value_or(INFINITY)};
    for (const llvm::json::Value &each : *row.getArray("ranges")) {
      const llvm::json::Object &range = *each.getAsObject();
      const double relative = range.getNumber("relative").value_or(0);
      bounds.ranges.push_back(
          {float(*range.getNumber("from")), float(*range.getNumber("to")),
           relative ? 0 : *range.getNumber("ulps"), relative});
    }
    return bounds;
  }
  printf("%s has no row in tolerances.json\n", nameOf(f).c_str());
  exit(1);
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

// How far y is from what it must be, 1 where it is as far as it may be.
double shareOf(const Bounds &bounds, double want, double got) {
  if (std::isnan(want) || std::isnan(got))
    return std::isnan(want) && std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(got)) // where no float is nearer
    return std::fabs(want) >= 0x1.fffffep127 && got * want > 0 ? 0 : INFINITY;
  const double error = std::fabs(got - want);
  return std::min(error / ulpAt(want) / bounds.ulps,
                  bounds.absolute ? error / bounds.absolute : INFINITY);
}

// Every step-th of the 2^32 floats, in the order of their bits.
void checkAll(const Function &f, const Target &isa, int64_t step) {
  const Bounds bounds = boundsOf(f);
  ParsedKernel parsed(textOf(f.op));
  mille_kernel_function kernel = load(parsed, isa, RowClass::many);
  std::vector<float> x(count), y(count);
  double worst = 0, at = 0;
  int64_t seen = 0;
  for (int64_t bits = 0; bits <= int64_t(UINT32_MAX);) {
    for (float &one : x) {
      const uint32_t these = uint32_t(std::min<int64_t>(bits, UINT32_MAX));
      std::memcpy(&one, &these, sizeof one);
      bits += step;
    }
    call(kernel, {matrix(x.data(), count / 64, 64, 64)}, {},
         matrix(y.data(), count / 64, 64, 64));
    for (int64_t i = 0; i < count; ++i) {
      if (std::fabs(x[i]) > bounds.within)
        continue;
      ++seen;
      const double share = shareOf(bounds, f.meaning(x[i]), y[i]);
      if (share > worst) {
        worst = share;
        at = x[i];
      }
    }
  }
  printf("%-10s of %ld floats the worst has %.3g of %g ulp or %g, at %.9g\n",
         nameOf(f).c_str(), long(seen), worst, bounds.ulps, bounds.absolute,
         at);
  fflush(stdout);
  failures += !(worst <= 1);
}

void check(const Function &f, const Target &isa, int64_t step) {
  const Bounds bounds = boundsOf(f);
  ParsedKernel parsed(textOf(f.op));
  mille_kernel_function kernel = load(parsed, isa, RowClass::many);
  std::vector<float> x(count), y(count);
  auto run = [&] {
    call(kernel, {matrix(x.data(), count / 64, 64, 64)}, {},
         matrix(y.data(), count / 64, 64, 64));
  };
  for (const Range &range : bounds.ranges) {
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
  for (float infinity : {-INFINITY, INFINITY}) {
    std::fill(x.begin(), x.end(), infinity);
    run();
    const double want = f.meaning(infinity);
    if (bounds.within < INFINITY || shareOf(bounds, want, y[0]) <= 1)
      continue;
    printf("%s(%g) is %g but must be %g\n", nameOf(f).c_str(), infinity, y[0],
           want);
    ++failures;
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
  const std::string mode = argc > 3 ? argv[2] : "";
  const bool all = mode == "all";
  const int64_t step = all || mode == "every" ? std::atoll(argv[3]) : 0;
  const float inf = INFINITY, nan = NAN;
  std::vector<Function> functions{
      {"math.exp",
       [](double x) { return std::exp(x); },
       {{0, 1}, {100, inf}, {-1000, 0}, {inf, inf}, {-inf, 0}, {nan, nan}}},
      {"math.exp2",
       [](double x) { return std::exp2(x); },
       {{0, 1},
        {10, 1024},
        {200, inf},
        {-1000, 0},
        {inf, inf},
        {-inf, 0},
        {nan, nan}}},
      {"math.tanh",
       [](double x) { return std::tanh(x); },
       {{0, 0}, {50, 1}, {-50, -1}, {inf, 1}, {-inf, -1}, {nan, nan}}},
      {"math.erf",
       [](double x) { return std::erf(x); },
       {{0, 0}, {50, 1}, {-inf, -1}, {inf, 1}, {nan, nan}}},
      {"math.erfc",
       [](double x) { return std::erfc(x); },
       {{-10, 2}, {50, 0}, {inf, 0}, {-inf, 2}, {nan, nan}}},
      {"math.log",
       [](double x) { return std::log(x); },
       {{1, 0}, {0, -inf}, {-1, nan}, {inf, inf}, {nan, nan}}},
      {"math.sin", [](double x) { return std::sin(x); }, {{0, 0}, {nan, nan}}},
      {"math.cos", [](double x) { return std::cos(x); }, {{0, 1}, {nan, nan}}},
      {gelu,
       [](double x) { return activation(Activation::gelu_erf, x); },
       {{0, 0}, {100, 100}, {inf, inf}, {nan, nan}}},
      {geluSlope,
       [](double x) { return activationSlope(Activation::gelu_erf, x); },
       {{100, 1}, {inf, 1}, {nan, nan}}},
      {"math.sqrt",
       [](double x) { return std::sqrt(x); },
       {{0, 0}, {4, 2}, {inf, inf}}},
      {"math.rsqrt", [](double x) { return 1 / std::sqrt(x); }, {{4, 0.5f}}},
  };
  for (const Function &f : functions)
    if (argc < 5 || nameOf(f).find(argv[4]) != std::string::npos)
      all ? checkAll(f, isa, step) : check(f, isa, step);
  printf("%d failures\n", failures);
  return failures != 0;
}
