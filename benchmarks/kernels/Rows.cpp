// Row kernels, which only move data when they are good: a share of the rate of a
// plain copy of the same bytes, in the cache and beyond it.
#include "benchmarks/kernels/Measure.h"

using namespace mille;
using namespace mille::benchmarks;

// A layer norm of N channels.
static void layerNorm(benchmark::State &state, const Isa &isa, int64_t rows,
                      int64_t N) {
  std::string x = rowsType(N, N, "f32"), w = "memref<" + std::to_string(N) + "xf32>";
  std::string text = "func.func @f(%x: " + x + ", %w: " + w + ", %b: " + w +
      ", %o: " + x + ") {\n kernel.rows ins(%x, %w, %b : " + x + ", " + w + ", " + w +
      ") outs(%o : " + x + ") gather [-1, -1, -1] norm <layer, 1.000000e-12> {\n"
      "^bb0(%a: f32, %g: f32, %c: f32):\n %p = arith.mulf %a, %g : f32\n"
      " %s = arith.addf %p, %c : f32\n kernel.yield %s : f32\n }\n return\n}\n";
  mille_kernel_function function = made(text, isa, RowClass::many);
  size_t bytes = rows * N * 4;
  Memory input(bytes), weight(N * 4), bias(N * 4), out(bytes);
  std::vector<Argument> arguments{matrixOf(input.data(), rows, N, N),
                                  test::vector(weight.data(), N),
                                  test::vector(bias.data(), N)};
  measureMoving(state, 2.0 * bytes,
                [&] {
                  test::call(function, arguments, {},
                             matrixOf(out.data(), rows, N, N));
                },
                [&] { copyAll(out.data(), input.data(), bytes); });
}

void benchmarks::addRows(const Isa &isa) {
  for (int64_t channels : {256, 768, 4096})
    for (int64_t rows : {16, 128, 16384})
      if (rows < 16384 || channels == 768)
        add("norm-" + std::to_string(channels), isa, "rows:" + std::to_string(rows),
            [=](auto &state) { layerNorm(state, isa, rows, channels); });
}
