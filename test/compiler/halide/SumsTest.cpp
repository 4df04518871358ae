// Compares the kernels of a training step that add rows up with double: odd and
// prime sizes, columns that share a number, every cut into tasks, batches in
// pieces; every buffer ends at a guard page.
//
// REQUIRES: x86-64-v4
// RUN: %programs/kernel-sums widest
#include "test/compiler/halide/Inputs/TrainRows.h"

namespace {

void columnSums(const Target &isa, int64_t N) {
  const std::string a = rowsType(N, strideOf(N)), r = rowsType(1, strideOf(1)),
                    w = "memref<" + text(N) + "xf32>";
  ParsedKernel parsed("func.func @f(%a: " + a + ", %r: " + r + ", %w: " + w +
                      ", %o: " + w +
                      ") {\n kernel.column_sums ins(%a, %r, "
                      "%w : " +
                      a + ", " + r + ", " + w + ") outs(%o : " + w +
                      ") {\n^bb0(%x: f32, %y: f32, %z: f32):\n %p = "
                      "arith.mulf %x, %y : f32\n %q = arith.addf %p, %z : "
                      "f32\n kernel.yield %q : f32\n }\n return\n}\n");
  mille_kernel_function kernel = load(parsed, isa, RowClass::many);
  for (int64_t rows : {1, 3, 65, 200})
    for (auto side : sides) {
      const std::string name =
          "column sums " + text(N) + ", " + text(rows) + " rows: ";
      Rows x(rows, N, 4, side), y(rows, 1, 5, side);
      Guarded z(N, side), out(N, side);
      fill(z, drawn(N, 6));
      const std::vector<float> before = drawn(N, 7);
      auto run = [&](int64_t n0, int64_t n1, int64_t m0, int64_t m1) {
        Argument ofX = matrix(x.numbers.data() + m0 * x.stride + n0, m1 - m0,
                              n1 - n0, x.stride);
        expect(call(kernel,
                    {ofX, y.from(m0, m1),
                     mille::test::vector(z.data() + n0, n1 - n0)},
                    {}, mille::test::vector(out.data() + n0, n1 - n0)) == 0,
               name + "status");
      };
      fill(out, before);
      run(0, N, 0, rows);
      const std::vector<float> whole = copyOf(out);
      for (int64_t n = 0; n < N; ++n) {
        double want = before[n], size = std::fabs(want);
        for (int64_t m = 0; m < rows; ++m) {
          const double product = double(x.at(m, n)) * y.at(m, 0);
          want += product + z[n];
          size += 3 * (std::fabs(product) + std::fabs(z[n]));
        }
        expect(isNear(whole[n], want, double(rows + 1), size), name + "error");
      }
      fill(out, before);
      for (int64_t n = 0; n < N; n += parsed.info.rowUnit)
        run(n, std::min<int64_t>(N, n + parsed.info.rowUnit), 0, rows);
      expect(sameBits(whole, out), name + "bits differ between tasks");
      fill(out, before);
      for (int64_t m = 0; m < rows; m += 7)
        run(0, N, m, std::min(rows, m + 7));
      expect(sameBits(whole, out), name + "bits differ between batches");
    }
}

// Columns that share numbers of the out: `rows` of 0 for one dimension.
void sharedSums(const Target &isa, int64_t N, int64_t rowsOfOut, int64_t P,
                bool placed) {
  const std::string a = rowsType(N, strideOf(N));
  const std::string o =
      rowsOfOut ? fixedType(rowsOfOut, P) : "memref<" + text(P) + "xf32>";
  const int64_t numbers = std::max<int64_t>(rowsOfOut, 1) * P;
  std::vector<int64_t> to(N);
  std::string list;
  for (int64_t n = 0; n < N; ++n) {
    to[n] = placed ? (n * 7 + 3) % numbers : n % numbers;
    list += (n ? ", " : "") + text(to[n]);
  }
  ParsedKernel parsed("func.func @f(%a: " + a + ", %o: " + o +
                      ") {\n kernel.column_sums ins(%a, %a : " + a + ", " + a +
                      ") outs(%o : " + o + ")" +
                      (placed ? " to [" + list + "]" : "") +
                      " {\n^bb0(%x: f32, %y: f32):\n %p = arith.mulf %x, %y "
                      ": f32\n kernel.yield %p : f32\n }\n return\n}\n");
  mille_kernel_function kernel = load(parsed, isa, RowClass::many);
  for (int64_t rows : {1, 3, 65})
    for (auto side : sides) {
      const std::string name = "shared sums " + text(N) + " in " +
                               text(numbers) + ", " + text(rows) + " rows: ";
      Rows x(rows, N, 24, side);
      Guarded out(numbers, side);
      const std::vector<float> before = drawn(numbers, 25);
      auto run = [&](int64_t m0, int64_t m1) {
        Argument task = rowsOfOut ? matrix(out.data(), rowsOfOut, P, P)
                                  : mille::test::vector(out.data(), P);
        expect(call(kernel, {x.from(m0, m1), x.from(m0, m1)}, {}, task) == 0,
               name + "status");
      };
      fill(out, before);
      run(0, rows);
      const std::vector<float> whole = copyOf(out);
      std::vector<double> want(before.begin(), before.end()), size(numbers);
      for (int64_t i = 0; i < numbers; ++i)
        size[i] = std::fabs(want[i]);
      for (int64_t m = 0; m < rows; ++m)
        for (int64_t n = 0; n < N; ++n) {
          const double term = double(x.at(m, n)) * x.at(m, n);
          want[to[n]] += term;
          size[to[n]] += 2 * term;
        }
      for (int64_t i = 0; i < numbers; ++i)
        expect(isNear(whole[i], want[i], double(rows * (N / numbers + 8) + 1),
                      size[i]),
               name + "error at " + text(i) + ": " + std::to_string(whole[i]) +
                   " for " + std::to_string(want[i]));
      fill(out, before);
      for (int64_t m = 0; m < rows; m += 7)
        run(m, std::min(rows, m + 7));
      expect(sameBits(whole, out), name + "bits differ between batches");
    }
}

void embedGradient(const Target &isa, int64_t N) {
  constexpr int64_t entries = 11;
  const std::string g = rowsType(N, strideOf(N)), o = fixedType(entries, N);
  ParsedKernel parsed("func.func @f(%g: " + g +
                      ", %i: memref<?xi32>, %o: " + o +
                      ") {\n kernel.embed_gradient %g at %i outs(%o : " + o +
                      ") : " + g + ", memref<?xi32>\n return\n}\n");
  mille_kernel_function kernel = load(parsed, isa, RowClass::many);
  for (int64_t rows : {1, 5, 60})
    for (auto side : sides) {
      const std::string name =
          "embed gradient " + text(N) + ", " + text(rows) + " rows: ";
      Rows g(rows, N, 8, side);
      Guarded index(rows, side), out(entries * N, side);
      auto *ids = index.as<int32_t>();
      for (int64_t m = 0; m < rows; ++m) // some outside of the table
        ids[m] = int32_t(m * 7 % (entries + 4)) - 2;
      const std::vector<float> before = drawn(entries * N, 9);
      auto run = [&](int64_t n0, int64_t n1) {
        Argument task = matrix(out.data() + n0, entries, n1 - n0, N);
        task.dimensions[0].min = int32_t(n0);
        expect(call(kernel, {g.all(), mille::test::vector(ids, rows)}, {},
                    task) == 0,
               name + "status");
      };
      fill(out, before);
      run(0, N);
      const std::vector<float> whole = copyOf(out);
      std::vector<float> want = before;
      for (int64_t m = 0; m < rows; ++m)
        for (int64_t n = 0; n < N; ++n)
          want[std::clamp<int64_t>(ids[m], 0, entries - 1) * N + n] +=
              g.at(m, n);
      expect(!memcmp(want.data(), whole.data(), want.size() * 4),
             name + "not the sums in order");
      fill(out, before);
      for (int64_t n = 0; n < N; n += parsed.info.columnUnit)
        run(n, std::min<int64_t>(N, n + parsed.info.columnUnit));
      expect(sameBits(whole, out), name + "bits differ between tasks");
    }
}

} // namespace

int main(int argc, char **argv) {
  const Target &isa = isaToTest(argc, argv);
  for (int64_t N : {1, 17, 64, 100, 256})
    columnSums(isa, N);
  for (auto [N, P] : {std::pair{8, 1}, {300, 1}, {512, 64}, {51, 17}, {48, 3}})
    sharedSums(isa, N, 0, P, false);
  sharedSums(isa, 50, 0, 7, true);
  sharedSums(isa, 10, 3, 2, true);
  sharedSums(isa, 66, 5, 4, true);
  for (int64_t N : {1, 16, 70, 130})
    embedGradient(isa, N);
  printf("%d failures\n", failures);
  return failures != 0;
}
