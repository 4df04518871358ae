// Compares the kernels of a training step on bf16 with double: odd and prime
// sizes, every cut into tasks, batches in pieces; every buffer ends at a guard
// page.
//
// REQUIRES: x86-64-v4
// RUN: %programs/kernel-narrow-train widest
#include "compiler/weights/Elements.h"
#include "test/compiler/halide/Inputs/TrainRows.h"

#include <algorithm>

namespace {

int64_t narrowStrideOf(int64_t columns) {
  return (columns + 31) / 32 * 32 + 32;
}
std::string narrowType(int64_t columns) {
  return rowsOf(columns, narrowStrideOf(columns), "bf16");
}

// Rows of random numbers of bf16, each with what follows it in the arena.
struct NarrowRows {
  NarrowRows(int64_t rows, int64_t columns, unsigned seed, Guarded::Side side)
      : columns(columns), stride(narrowStrideOf(columns)),
        numbers((rows - 1) * stride + columns, side, 2) {
    std::mt19937 random(seed);
    std::normal_distribution<float> draw(0.1f, 1);
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t n = 0; n < columns; ++n)
        data()[m * stride + n] = narrowBf16(draw(random));
  }
  uint16_t *data() const { return numbers.as<uint16_t>(); }
  double at(int64_t m, int64_t n) const {
    return widenBf16(data()[m * stride + n]);
  }
  // Rows first to end, and of them the columns from `column` on.
  Argument from(int64_t first, int64_t end, int64_t column = 0,
                int64_t width = -1) const {
    return matrix(data() + first * stride + column, end - first,
                  width < 0 ? columns : width, stride);
  }

  int64_t columns, stride;
  Guarded numbers;
};

// Rows of an expert are added one by one, others in pairs.
void weightGradient(const Target &isa, int64_t N, int64_t K, bool ofExperts) {
  const std::string g = narrowType(N), x = narrowType(K), s = "memref<4xi32>",
                    o = ofExperts
                            ? "memref<3x" + text(N) + "x" + text(K) + "xf32>"
                            : fixedType(N, K);
  ParsedKernel parsed("func.func @f(%g: " + g + ", %x: " + x + ", %s: " + s +
                      ", %o: " + o + ") {\n kernel.weight_gradient %g, %x " +
                      (ofExperts ? "starts %s : " + s + " " : "") +
                      "outs(%o : " + o + ") : " + g + ", " + x +
                      "\n return\n}\n");
  mille_kernel_function kernel = load(parsed, isa, RowClass::many);
  const int64_t rowUnit = parsed.info.rowUnit,
                columnUnit = parsed.info.columnUnit;
  for (int64_t rows : {1, 2, 7, 64, 131, 514})
    for (auto side : sides) {
      const std::string name = "weight gradient " + text(N) + " x " + text(K) +
                               (ofExperts ? " of an expert" : "") + ", " +
                               text(rows) + " rows: ";
      const NarrowRows gradient(rows, N, 1, side), input(rows, K, 2, side);
      Guarded out(N * K, side);
      const std::vector<float> before = drawn(N * K, 3);
      auto run = [&](int64_t n0, int64_t n1, int64_t k0, int64_t k1, int64_t m0,
                     int64_t m1) {
        Argument task = matrix(out.data() + n0 * K + k0, n1 - n0, k1 - k0, K);
        task.dimensions[0].min = int32_t(k0);
        expect(call(kernel,
                    {gradient.from(m0, m1, n0, n1 - n0), input.from(m0, m1)},
                    {}, task) == 0,
               name + "status");
      };
      resetScratch();
      checkSums(name,
                {N, K, rowUnit, columnUnit, rows, /*cut=*/ofExperts ? 5 : 6},
                gradient, input, before, out, double(rows + 2), run);
      expect(peakScratch() <= parsed.info.scratchBytes,
             name + text(int64_t(peakScratch())) + " bytes of scratch");
    }
}

void columnSums(const Target &isa, int64_t N) {
  const std::string a = narrowType(N), o = "memref<" + text(N) + "xf32>";
  ParsedKernel parsed("func.func @f(%a: " + a + ", %o: " + o +
                      ") {\n kernel.column_sums ins(%a : " + a +
                      ") outs(%o : " + o +
                      ") {\n^bb0(%x: f32):\n kernel.yield %x : f32\n }\n "
                      "return\n}\n");
  mille_kernel_function kernel = load(parsed, isa, RowClass::many);
  for (int64_t rows : {1, 3, 65})
    for (auto side : sides) {
      const std::string name =
          "column sums " + text(N) + ", " + text(rows) + " rows: ";
      const NarrowRows x(rows, N, 4, side);
      Guarded out(N, side);
      std::vector<float> want = drawn(N, 5);
      fill(out, want);
      for (int64_t m = 0; m < rows; ++m)
        for (int64_t n = 0; n < N; ++n)
          want[n] += float(x.at(m, n));
      for (int64_t n = 0; n < N; n += parsed.info.rowUnit) {
        const int64_t end = std::min<int64_t>(N, n + parsed.info.rowUnit);
        expect(call(kernel, {x.from(0, rows, n, end - n)}, {},
                    mille::test::vector(out.data() + n, end - n)) == 0,
               name + "status");
      }
      expect(sameBits(want, out), name + "not the sums in order");
    }
}

void pack(const Target &isa, int64_t N, int64_t K, bool transposed,
          int64_t panel) {
  const int64_t rows = transposed ? K : N, inner = transposed ? N : K,
                steps = (inner + 1) / 2, panels = (rows + panel - 1) / panel,
                across = 2 * panel;
  const std::string w = fixedType(N, K), o = "memref<" + text(panels) + "x" +
                                             text(steps) + "x" + text(across) +
                                             "xbf16>";
  ParsedKernel parsed("func.func @f(%w: " + w + ", %o: " + o +
                      ") {\n kernel.pack %w" +
                      (transposed ? " transposed" : "") + " outs(%o : " + o +
                      ") : " + w + "\n return\n}\n");
  mille_kernel_function kernel = load(parsed, isa, RowClass::many);
  // Tasks as the runtime cuts them: an even K by steps, an odd one by columns.
  const bool bySteps = inner % 2 == 0;
  const int64_t unit = bySteps ? across : parsed.info.columnUnit,
                stepsOfTask = bySteps ? 2 * parsed.info.rowUnit : steps;
  expect(parsed.info.columnUnit >= unit, "columns of a task");
  for (auto side : sides) {
    const std::string name = "pack " + text(N) + " x " + text(K) +
                             (transposed ? " transposed: " : ": ");
    Guarded weight(N * K, side), out(panels * steps * across, side, 2);
    fill(weight, drawn(N * K, 6));
    auto *packed = out.as<uint16_t>();
    for (int64_t first = 0; first < steps; first += stepsOfTask)
      for (int64_t from = 0; from < across; from += unit) {
        const int64_t count = std::min(stepsOfTask, steps - first),
                      columns = std::min(unit, across - from),
                      held = std::min(2 * count, inner - 2 * first);
        Argument in = matrix(weight.data() + 2 * first * (transposed ? K : 1),
                             transposed ? held : N, transposed ? K : held, K);
        Argument task{packed + first * across + from,
                      {{int32_t(from), int32_t(columns), 1, 0},
                       {0, int32_t(count), int32_t(across), 0},
                       {0, int32_t(panels), int32_t(across * steps), 0}}};
        expect(call(kernel, {in}, {}, task) == 0, name + "status");
      }
    for (int64_t p = 0; p < panels; ++p)
      for (int64_t step = 0; step < steps; ++step)
        for (int64_t c = 0; c < across; ++c) {
          const int64_t row = p * panel + c / 2, k = 2 * step + c % 2;
          const float from = row >= rows || k >= inner ? 0
                             : transposed              ? weight[k * K + row]
                                                       : weight[row * K + k];
          expect(packed[(p * steps + step) * across + c] == narrowBf16(from),
                 name + "wrong at panel " + text(p) + ", step " + text(step) +
                     ", " + text(c));
        }
  }
}

} // namespace

int main(int argc, char **argv) {
  const Target &isa = isaToTest(argc, argv);
  for (auto [N, K] : {std::pair{1, 1},
                      {7, 5},
                      {16, 48},
                      {48, 64},
                      {31, 112},
                      {400, 96},
                      {24, 33}})
    weightGradient(isa, N, K, /*ofExperts=*/false);
  for (auto [N, K] : {std::pair{7, 5}, {48, 64}, {24, 33}})
    weightGradient(isa, N, K, /*ofExperts=*/true);
  for (int64_t N : {1, 17, 64, 100})
    columnSums(isa, N);
  for (bool transposed : {false, true})
    for (int64_t panel : {48, 64})
      for (auto [N, K] : {std::pair{1, 1},
                          {48, 16},
                          {50, 33},
                          {96, 192},
                          {128, 40},
                          {7, 100}})
        pack(isa, N, K, transposed, panel);
  printf("%d failures\n", failures);
  return failures != 0;
}
