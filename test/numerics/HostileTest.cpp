// Kernels on numbers that cancel, are huge beside tiny, subnormal or 0, and
// with one NaN or one infinity, compared with double: matmul by the sum of the
// magnitudes of its products, all others by the largest number of the row. What
// is no number stays in the rows that see it.
//
// REQUIRES: x86-64-v4
// RUN: %programs/kernel-hostile widest
// RUN: %programs/kernel-hostile widest bf16
#include "test/compiler/halide/Inputs/Hostile.h"
#include "compiler/interpret/Judge.h"
#include "test/numerics/Inputs/JudgedKernel.h"

#include <cmath>
#include <cstdio>

using namespace mille;
using namespace mille::test;

namespace {

using Kind = Hostile;
constexpr int64_t rows = 19;
constexpr auto side = Guarded::Side::end;

float spoilt(Kind kind, float number, bool odd, JudgedKernel &draw) {
  return mille::test::spoilt(kind, number, 0, odd,
                             [&](int64_t n) { return draw.pick(n); });
}

void spoil(JudgedKernel &k, const Operand &x, Kind kind) {
  mille::test::spoil(
      kind, x.rows, x.columns,
      [&](int64_t m, int64_t n) -> float & { return x.at(m, n); },
      [&](int64_t n) { return k.pick(n); });
}

JudgedKernel named(const std::string &name, Kind kind) {
  JudgedKernel k(name + ", " + wordOf(kind), side);
  k.byRow = true;
  return k;
}

double bound(const char *row) { return toleranceOf(row).relative; }

const char *const l2WithoutEps = "norm <l2, 0.000000e+00>";

int norm(const std::string &norm, Kind kind, const Target &isa, bool narrow) {
  // Squares of subnormal numbers are 0, and eps stands in for them.
  if (kind == Kind::subnormal && norm == l2WithoutEps)
    return 0;
  JudgedKernel k = named("rows " + norm, kind);
  spoil(k, k.rows("x", rows, 96), kind);
  k.fixed("g", 0, 96);
  k.out(rows, 96);
  k.op(
      "kernel.rows ins(%x, %g : {x}, {g}) outs(%out : {out}) gather [-1, -1] " +
      norm +
      " {\n^bb0(%a: f32, %b: f32):\n %y = arith.mulf %a, %b : f32\n"
      " kernel.yield %y : f32\n }");
  return k.check(isa, bound("kernel_normed"));
}

int rotate(Kind kind, const Target &isa) {
  JudgedKernel k = named("rotate", kind);
  spoil(k, k.rows("x", rows, 48), kind);
  k.rows("r", rows, 16);
  k.out(rows, 48);
  k.op("kernel.rotate %x by %r outs(%out : {out}) heads 3 head_dim 16 pairing "
       "half start 0 : {x}, {r}");
  return k.check(isa, bound("kernel_moved"));
}

int combine(Kind kind, const Target &isa) {
  constexpr int64_t slots = 3;
  JudgedKernel k = named("combine", kind);
  spoil(k, k.rows("x", rows * slots, 100), kind);
  Operand &place = k.integers("p", rows * slots);
  k.rows("w", rows, slots);
  for (int64_t s = 0; s < rows * slots; ++s)
    place.number(s) = int32_t((s * 7 + 3) % (rows * slots));
  k.out(rows, 100);
  k.op("kernel.combine %x place %p : {p} times %w : {w} outs(%out : {out}) k " +
       std::to_string(slots) + " : {x}");
  return k.check(isa, bound("kernel_moved"));
}

// Which of query, key and value is of that kind. Huge scores differ by more
// than their rounding tells apart, so of queries and keys there are none. Nor
// are there scores that are no numbers: kernels give them no weight, and a
// model's row that has one is no number by its value and its skip.
int attention(const std::string &which, Kind kind, const Target &isa,
              bool narrow) {
  const bool finite = kind != Kind::oneNaN && kind != Kind::oneInfinity;
  if (which != "v" && (kind == Kind::mixed || !finite))
    return 0;
  constexpr int64_t keys = 33;
  JudgedKernel k = named("attention of " + which, kind);
  for (const char *name : {"q", "k", "v"}) {
    Operand &x = k.rows(name, keys, 32);
    if (which == name)
      spoil(k, x, kind);
  }
  k.out(keys, 32);
  k.scalar("t", keys);
  k.scalar("n", keys);
  k.mostKeys = keys;
  k.scalar("p", 0);
  k.op("kernel.attention %q, %k, %v queries %t keys %n first %p outs(%out : "
       "{out}) heads 2 kv_heads 2 head_dim 16 value_dim 16 offsets [0, 0, 0] "
       "scale 0.25 causal true : {q}, {k}, {v}");
  for (const char *name : {"q", "k", "v", "out"})
    if (narrow)
      k.narrow(name);
  // There a row of values is integers with one step.
  k.spreadsInHead = narrow && isa.name == "cascadelake";
  return k.check(isa,
                 bound(narrow ? "kernel_attention_bf16" : "kernel_attention"),
                 keys, keys, 2);
}

int linearAttention(Kind kind, const Target &isa) {
  constexpr int64_t keys = 33;
  JudgedKernel k = named("linear attention", kind);
  k.rows("q", keys, 32);
  k.rows("k", keys, 32);
  spoil(k, k.rows("v", keys, 32), kind);
  Operand &decay = k.fixed("d", 0, 2);
  decay.at(0, 0) = 0.3f;
  decay.at(0, 1) = 2.0f;
  k.out(keys, 32);
  k.scalar("t", keys);
  k.op("kernel.linear_attention %q, %k, %v decay %d : {d} tokens %t outs(%out "
       ": {out}) heads 2 kv_heads 2 head_dim 16 value_dim 16 offsets [0, 0, 0] "
       "scale 0.25 : {q}, {k}, {v}");
  return k.check(isa, bound("kernel_attention"), keys, keys, 2);
}

//===-- Products ----------------------------------------------------------===//

constexpr int64_t inner = 300, columns = 64;
const char *const product =
    "func.func @f(%in: memref<?x300xf32>, %w: memref<1x300x64xf32>, %o: "
    "memref<?x64xf32>) {\n kernel.matmul %in, %w outs(%o : memref<?x64xf32>) "
    "accumulators 1 {\n^bb0(%a: f32):\n kernel.yield %a : f32\n } : "
    "memref<?x300xf32>, memref<1x300x64xf32>\n return\n}\n";

// Of numbers that cancel, neighbours in K have equal inputs and weights of
// different signs.
int matmul(Kind kind, RowClass rowClass, const Target &isa) {
  ParsedKernel parsed(product);
  mille_kernel_function kernel = load(parsed, isa, rowClass);
  const int64_t m = parsed.info.fewRows + (rowClass == RowClass::few ? 0 : 3);
  JudgedKernel draw("", side);
  Guarded x(m * inner), w(inner * columns), out(m * columns);
  for (int64_t i = 0; i < m * inner; ++i) {
    const bool odd = i % inner % 2;
    const Kind of = kind == Kind::cancelling ? Kind::zeros : kind;
    x[i] = float(draw.draw());
    if (kind != Kind::cancelling)
      x[i] = spoilt(of, x[i], odd, draw);
    else if (odd)
      x[i] = x[i - 1];
  }
  for (int64_t k = 0; k < inner; ++k)
    for (int64_t n = 0; n < columns; ++n)
      w[k * columns + n] = kind == Kind::cancelling && k % 2
                               ? -w[(k - 1) * columns + n]
                               : float(draw.draw());
  const int64_t at = m / 2;
  if (kind == Kind::oneNaN || kind == Kind::oneInfinity)
    x[at * inner + 100] = kind == Kind::oneNaN ? NAN : INFINITY;
  int failures = call(kernel,
                      {matrix(x.data(), m, inner, inner),
                       {w.data(),
                        {{0, columns, 1, 0},
                         {0, inner, columns, 0},
                         {0, 1, inner * columns, 0}}}},
                      {}, matrix(out.data(), m, columns, columns)) != 0;
  const double most = bound("kernel_matmul") * std::sqrt(double(inner));
  double worst = 0;
  for (int64_t i = 0; i < m * columns; ++i) {
    double sum = 0, size = 1e-36;
    for (int64_t k = 0; k < inner; ++k) {
      const double term =
          double(x[i / columns * inner + k]) * w[k * columns + i % columns];
      sum += term;
      size += std::fabs(term);
    }
    if (std::isfinite(sum))
      worst =
          std::max(worst, std::isnan(out[i]) ? INFINITY
                                             : std::fabs(out[i] - sum) / size);
    else
      failures += std::isnan(sum) ? !std::isnan(out[i]) : out[i] != sum;
  }
  failures += !(worst <= most);
  if (failures)
    printf("matmul, %s: %d failures, error %g of %g\n", wordOf(kind), failures,
           worst, most);
  return failures;
}

} // namespace

int main(int argc, char **argv) {
  const Target &isa = isaToTest(argc, argv);
  const bool narrow = argc > 2 && std::string(argv[2]) == "bf16";
  int failures = 0, cases = 0;
  auto count = [&](int failed) {
    ++cases;
    failures += failed;
  };
  for (Kind kind : hostileKinds) {
    for (const char *text :
         {"", "norm <layer, 1.000000e-05>", "norm <rms, 1.000000e-05>",
          "norm <l2, 1.000000e-05>", l2WithoutEps,
          "norm <rms, 1.000000e-05, group = 32>"})
      count(norm(text, kind, isa, narrow));
    for (const char *which : {"q", "k", "v"})
      count(attention(which, kind, isa, narrow));
    if (narrow)
      continue;
    count(rotate(kind, isa));
    count(combine(kind, isa));
    count(linearAttention(kind, isa));
    for (RowClass rowClass : {RowClass::few, RowClass::many})
      count(matmul(kind, rowClass, isa));
  }
  printf("%d cases, %d failures\n", cases, failures);
  return failures != 0;
}
