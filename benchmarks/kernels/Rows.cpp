// Row kernels, which only move data when they are good: a share of the rate of
// a plain copy of the same bytes, in the cache and beyond it.
#include "benchmarks/kernels/Measure.h"

using namespace mille;
using namespace mille::benchmarks;

// A layer norm of N channels.
static void layerNorm(benchmark::State &state, const Target &isa, int64_t rows,
                      int64_t N) {
  std::string x = rowsType(N, N, f32),
              w = "memref<" + std::to_string(N) + "xf32>";
  std::string text =
      "func.func @f(%x: " + x + ", %w: " + w + ", %b: " + w + ", %o: " + x +
      ") {\n kernel.rows ins(%x, %w, %b : " + x + ", " + w + ", " + w +
      ") outs(%o : " + x +
      ") gather [-1, -1, -1] norm <layer, 1.000000e-12> {\n"
      "^bb0(%a: f32, %g: f32, %c: f32):\n %p = arith.mulf %a, %g : f32\n"
      " %s = arith.addf %p, %c : f32\n kernel.yield %s : f32\n }\n return\n}\n";
  mille_kernel_function function = made(text, isa).function;
  size_t bytes = rows * N * 4;
  Buffer input(rows * N, f32), weight(N, f32), bias(N, f32), out(rows * N, f32);
  std::vector<Argument> arguments{matrixOf(input.data(), rows, N, N),
                                  test::vector(weight.data(), N),
                                  test::vector(bias.data(), N)};
  measureMoving(
      state, 2.0 * bytes,
      [&] {
        test::call(function, arguments, {}, matrixOf(out.data(), rows, N, N));
      },
      [&] { copyAll(out.data(), input.data(), bytes); });
}

// Rows of N numbers as bytes, and what these stand for.
static void quantize(benchmark::State &state, const Target &isa,
                     Element element, int64_t rows, int64_t N) {
  std::string x = rowsType(N, N, element), v = rowsType(N, N, ui8);
  std::string text =
      "func.func @f(%x: " + x + ", %v: " + v +
      ", %p: memref<?x4xf32>) {\n kernel.quantize %x values(%v : " + v +
      ") parameters(%p : memref<?x4xf32>) : " + x + "\n return\n}\n";
  mille_kernel_function function = made(text, isa).function;
  Buffer input(rows * N, element), values(rows * N, ui8),
      parameters(rows * 4, f32), copy(rows * N, element);
  std::vector<Argument> arguments{matrixOf(input.data(), rows, N, N),
                                  matrixOf(values.data(), rows, N, N)};
  size_t bytes = rows * N * element.bytes;
  measureMoving(
      state, double(bytes) + rows * N,
      [&] {
        test::call(function, arguments, {},
                   matrixOf(parameters.data(), rows, 4, 4));
      },
      [&] { copyAll(copy.data(), input.data(), bytes); });
}

void benchmarks::addRows(const Target &isa) {
  for (int64_t channels : {256, 768, 4096})
    for (int64_t rows : {16, 128, 16384})
      if (rows < 16384 || channels == 768)
        add("norm-" + std::to_string(channels) + "/f32", isa,
            "rows:" + std::to_string(rows),
            [=](auto &state) { layerNorm(state, isa, rows, channels); });
  for (int64_t channels : {768, 3072})
    for (Element element : {f32, bf16})
      if (hasInstructions(isa, NumberType::int8))
        add("quantize-" + std::to_string(channels) + "/" + element.name, isa,
            "rows:128",
            [=](auto &state) { quantize(state, isa, element, 128, channels); });
}
