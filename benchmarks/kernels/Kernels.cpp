// Speed of single kernels on one core. Work is cut into tasks as the runtime cuts
// it. GFLOPs: from the sum over tasks of the best time of each, as others only add
// time. peak%: each task's rate over that of register loops right before and after
// it (clock and neighbours change from millisecond to millisecond), the median.
#include "benchmarks/kernels/Peak.h"
#include "test/compiler/halide/Inputs/LoadedKernel.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <sched.h>

using namespace mille;
using namespace mille::test;

namespace {

// Kernels are made once per text and instruction set.
struct Made {
  std::unique_ptr<ParsedKernel> parsed;
  mille_kernel_function function;
};
const Made &made(const std::string &text, const Isa &isa, RowClass rows) {
  static std::map<std::string, Made> all;
  Made &entry = all[text + isa.name + (rows == RowClass::few ? "f" : "m")];
  if (!entry.parsed) {
    entry.parsed = std::make_unique<ParsedKernel>(text);
    entry.function = load(*entry.parsed, isa, rows);
  }
  return entry;
}

float *filled(size_t count) {
  auto *data = static_cast<float *>(aligned_alloc(64, (count * 4 + 127) / 64 * 64));
  for (size_t i = 0; i < count; ++i)
    data[i] = float(int(i * 2654435761u >> 16) % 2001 - 1000) / 1000.0f;
  return data;
}

// Runs the tasks while the benchmark asks and reports. flops: of all tasks.
template <class Run>
void measure(benchmark::State &state, const Isa &isa, double flops,
             int64_t tasks, Run run) {
  const bool wide = isa.features & MILLE_CPU_AVX512;
  std::vector<double> best(tasks, 1e9), shares;
  double before = peakFlops(wide);
  for (auto _ : state)
    for (int64_t task = 0; task < tasks; ++task) {
      auto start = std::chrono::steady_clock::now();
      run(task);
      double time = std::chrono::duration<double>(
                        std::chrono::steady_clock::now() - start).count();
      best[task] = std::min(best[task], time);
      double after = peakFlops(wide);
      // A burst that was interrupted says nothing of its neighbours.
      if (after < 1.1 * before && before < 1.1 * after)
        shares.push_back(flops / tasks / time / ((before + after) / 2));
      before = after;
    }
  double whole = std::accumulate(best.begin(), best.end(), 0.0);
  state.counters["us"] = whole * 1e6;
  state.counters["GFLOPs"] = flops / whole / 1e9;
  if (shares.empty())
    return;
  std::nth_element(shares.begin(), shares.begin() + shares.size() / 2, shares.end());
  state.counters["peak%"] = 100 * shares[shares.size() / 2];
}

std::string rowsType(int64_t columns, int64_t stride) {
  std::string size = std::to_string(columns);
  return "memref<?x" + size + "xf32" +
         (stride == columns ? ">" : ", strided<[" + std::to_string(stride) + ", 1]>>");
}
int64_t paddedStride(int64_t columns) {
  int64_t stride = (columns + 15) / 16 * 16;
  return stride * 4 % 4096 == 0 ? stride + 16 : stride;
}

const char *plain = "^bb0(%a: f32):\n kernel.yield %a : f32";
const char *biasGelu = R"(^bb0(%a: f32, %b: f32):
  %c = arith.constant -0.70710678118654757 : f32
  %h = arith.constant 0.5 : f32
  %x = arith.addf %a, %b : f32
  %t = arith.mulf %x, %c : f32
  %e = math.erfc %t : f32
  %y = arith.mulf %x, %h : f32
  %z = arith.mulf %y, %e : f32
  kernel.yield %z : f32)";
const char *biasResidual = R"(^bb0(%a: f32, %b: f32, %r: f32):
  %x = arith.addf %a, %b : f32
  %y = arith.addf %x, %r : f32
  kernel.yield %y : f32)";

void matmul(benchmark::State &state, const Isa &isa, int64_t rows, int64_t K,
            int64_t N, const char *region) {
  bool bias = region != plain, residual = region == biasResidual;
  int64_t in = paddedStride(K), outStride = paddedStride(N), panels = (N + 63) / 64;
  std::string x = rowsType(K, in), o = rowsType(N, outStride);
  std::string b = "memref<" + std::to_string(N) + "xf32>";
  std::string w = "memref<" + std::to_string(panels) + "x" + std::to_string(K) + "x64xf32>";
  std::string text = "func.func @f(%in: " + x + ", %weight: " + w + ", %bias: " + b +
      ", %rest: " + o + ", %out: " + o + ") {\n kernel.matmul %in, %weight ";
  if (bias)
    text += residual ? "extras(%bias, %rest : " + b + ", " + o + ")" : "extras(%bias : " + b + ")";
  text += " outs(%out : " + o + ") accumulators 1 {\n" + region + "\n} : " + x + ", " + w +
          "\n return\n}\n";
  bool few = rows <= 12;
  const Made &kernel = made(text, isa, few ? RowClass::few : RowClass::many);
  float *input = filled(rows * in), *weight = filled(panels * K * 64),
        *biases = filled(N), *rest = filled(rows * outStride), *out = filled(rows * outStride);
  std::vector<Argument> arguments{matrix(input, rows, K, in),
      {weight, {{0, 64, 1, 0}, {0, int32_t(K), 64, 0}, {0, int32_t(panels), int32_t(64 * K), 0}}}};
  if (bias)
    arguments.push_back(mille::test::vector(biases, N));
  if (residual)
    arguments.push_back(matrix(rest, rows, N, outStride));
  measure(state, isa, 2.0 * rows * K * N, (N + 127) / 128, [&](int64_t task) {
    int64_t n = task * 128; // two panels
    Argument range = matrix(out + n, rows, std::min<int64_t>(128, N - n), outStride);
    range.dimensions[0].min = int32_t(n);
    call(kernel.function, arguments, {}, range);
  });
  for (float *data : {input, weight, biases, rest, out})
    free(data);
}

void attention(benchmark::State &state, const Isa &isa, int64_t tokens, int64_t heads,
               int64_t dim, bool masked, bool turned, bool causal) {
  int64_t width = 3 * heads * dim, stride = paddedStride(width), outStride = paddedStride(heads * dim);
  std::string x = rowsType(width, stride), o = rowsType(heads * dim, outStride);
  std::string r = "memref<?x" + std::to_string(dim) + "xf32>", h = std::to_string(heads),
              d = std::to_string(dim);
  std::string text = "func.func @f(%t: index, %p: index, %x: " + x + ", %o: " + o +
      ", %m: memref<?x1xf32>, %r: " + r + ") {\n kernel.attention %x, %x, %x" +
      (masked ? " key_bias %m : memref<?x1xf32>" : "") + (turned ? " rotation %r : " + r : "") +
      " queries %t keys %t first %p outs(%o : " + o + ") heads " + h + " kv_heads " + h +
      " head_dim " + d + " value_dim " + d + " offsets [0, " + std::to_string(heads * dim) +
      ", " + std::to_string(2 * heads * dim) + "] scale 0.125 causal " +
      (causal ? "true" : "false") + " : " + x + ", " + x + ", " + x + "\n return\n}\n";
  const Made &kernel = made(text, isa, RowClass::many);
  float *input = filled(tokens * stride), *bias = filled(tokens),
        *rotation = filled(tokens * dim), *out = filled(tokens * outStride);
  std::fill(bias, bias + tokens, 0.0f);
  Argument all = matrix(input, tokens, width, stride);
  std::vector<Argument> arguments{all, all, all};
  if (masked)
    arguments.push_back(matrix(bias, tokens, 1, 1));
  if (turned)
    arguments.push_back(matrix(rotation, tokens, dim, dim));
  double flops = 4.0 * tokens * tokens * heads * dim * (causal ? 0.5 : 1.0);
  measure(state, isa, flops, heads, [&](int64_t head) {
    Argument range{out + head * dim, {{0, int32_t(dim), 1, 0},
        {0, int32_t(tokens), int32_t(outStride), 0}, {int32_t(head), 1, int32_t(dim), 0}}};
    call(kernel.function, arguments, {int32_t(tokens), int32_t(tokens), 0}, range);
  });
  for (float *data : {input, bias, rotation, out})
    free(data);
}

// RoPE by itself of `heads` heads of queries and as many of keys.
void rotate(benchmark::State &state, const Isa &isa, int64_t tokens, int64_t heads,
            int64_t dim) {
  int64_t width = 2 * heads * dim, stride = paddedStride(width);
  std::string x = rowsType(width, stride), r = "memref<?x" + std::to_string(dim) + "xf32>";
  std::string text = "func.func @f(%x: " + x + ", %r: " + r + ", %o: " + x +
      ") {\n kernel.rotate %x by %r outs(%o : " + x + ") heads " + std::to_string(2 * heads) +
      " head_dim " + std::to_string(dim) + " pairing half start 0 : " + x + ", " + r +
      "\n return\n}\n";
  const Made &kernel = made(text, isa, RowClass::many);
  float *input = filled(tokens * stride), *rotation = filled(tokens * dim),
        *out = filled(tokens * stride);
  std::vector<Argument> arguments{matrix(input, tokens, width, stride),
                                  matrix(rotation, tokens, dim, dim)};
  measure(state, isa, 3.0 * tokens * width, 1, [&](int64_t) {
    call(kernel.function, arguments, {}, matrix(out, tokens, width, stride));
  });
  for (float *data : {input, rotation, out})
    free(data);
}

void rowNorm(benchmark::State &state, const Isa &isa, int64_t rows, int64_t N) {
  std::string x = rowsType(N, N), w = "memref<" + std::to_string(N) + "xf32>";
  std::string text = "func.func @f(%x: " + x + ", %w: " + w + ", %b: " + w + ", %o: " + x +
      ") {\n kernel.rows ins(%x, %w, %b : " + x + ", " + w + ", " + w + ") outs(%o : " + x +
      ") gather [-1, -1, -1] norm <layer, 1.000000e-12> {\n^bb0(%a: f32, %g: f32, %c: f32):\n"
      " %p = arith.mulf %a, %g : f32\n %s = arith.addf %p, %c : f32\n kernel.yield %s : f32\n"
      " }\n return\n}\n";
  const Made &kernel = made(text, isa, RowClass::many);
  float *input = filled(rows * N), *g = filled(N), *c = filled(N), *out = filled(rows * N);
  std::vector<Argument> arguments{matrix(input, rows, N, N), mille::test::vector(g, N),
                                  mille::test::vector(c, N)};
  measure(state, isa, 8.0 * rows * N, 1, [&](int64_t) {
    call(kernel.function, arguments, {}, matrix(out, rows, N, N));
  });
  for (float *data : {input, g, c, out})
    free(data);
}

template <class Run> void add(const std::string &name, Run run) {
  benchmark::RegisterBenchmark(name.c_str(), run);
}

} // namespace

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(argc > 1 ? atoi(argv[1]) : 0, &one);
  sched_setaffinity(0, sizeof one, &one);
  for (const Isa &isa : knownIsas()) {
    if (!machineHas(isa) || isa.name == "x86-64-v4")
      continue;
    for (int64_t rows : {1, 7, 16, 32, 128}) {
      std::string end = "/" + isa.name + "/rows:" + std::to_string(rows);
      add("matmul-768-3072" + end, [=](auto &s) { matmul(s, isa, rows, 768, 3072, plain); });
      add("matmul-768-3072-gelu" + end, [=](auto &s) { matmul(s, isa, rows, 768, 3072, biasGelu); });
      add("matmul-3072-768-residual" + end, [=](auto &s) { matmul(s, isa, rows, 3072, 768, biasResidual); });
    }
    add("matmul-768-128/" + isa.name + "/rows:128", [=](auto &s) { matmul(s, isa, 128, 768, 128, plain); });
    add("matmul-768-128-gelu/" + isa.name + "/rows:128", [=](auto &s) { matmul(s, isa, 128, 768, 128, biasGelu); });
    add("matmul-384-1536-gelu/" + isa.name + "/rows:128", [=](auto &s) { matmul(s, isa, 128, 384, 1536, biasGelu); });
    add("matmul-768-30522/" + isa.name + "/rows:16", [=](auto &s) { matmul(s, isa, 16, 768, 30522, plain); });
    for (int64_t tokens : {32, 33, 128, 512}) {
      std::string end = "/" + isa.name + "/tokens:" + std::to_string(tokens);
      add("attention-12x64" + end, [=](auto &s) { attention(s, isa, tokens, 12, 64, false, false, false); });
      add("attention-12x64-masked" + end, [=](auto &s) { attention(s, isa, tokens, 12, 64, true, false, false); });
      add("attention-12x64-turned-causal" + end, [=](auto &s) { attention(s, isa, tokens, 12, 64, false, true, true); });
    }

    // Where a rotation is cheapest: in attention's prologue, or before it.
    for (int64_t tokens : {1, 128, 512}) {
      std::string end = "/" + isa.name + "/tokens:" + std::to_string(tokens);
      add("attention-32x128-causal" + end, [=](auto &s) { attention(s, isa, tokens, 32, 128, false, false, true); });
      add("attention-32x128-turned-causal" + end, [=](auto &s) { attention(s, isa, tokens, 32, 128, false, true, true); });
      add("rotate-64x128" + end, [=](auto &s) { rotate(s, isa, tokens, 32, 128); });
    }
    add("norm-768/" + isa.name + "/rows:128", [=](auto &s) { rowNorm(s, isa, 128, 768); });
  }
  benchmark::RunSpecifiedBenchmarks();
}
