// Compares the kernels of a training step with double: odd and prime sizes,
// every cut into tasks, batches in pieces, hostile numbers; every buffer ends
// at a guard page.
//
// REQUIRES: x86-64-v4
// RUN: %programs/kernel-train widest
#include "test/compiler/halide/Inputs/TrainRows.h"

namespace {

using Spoilt = std::optional<Hostile>; // none: random numbers

std::string wordsOf(Spoilt kind) {
  return kind ? std::string(", ") + wordOf(*kind) : "";
}

void weightGradient(const Target &isa, int64_t N, int64_t K, Spoilt kind = {}) {
  const MadeKernel &it =
      made("func.func @f(%g: " + rowsType(N, strideOf(N)) + ", %x: " +
               rowsType(K, strideOf(K)) + ", %o: " + fixedType(N, K) +
               ") {\n kernel.weight_gradient %g, %x "
               "outs(%o : " +
               fixedType(N, K) + ") : " + rowsType(N, strideOf(N)) + ", " +
               rowsType(K, strideOf(K)) + "\n return\n}\n",
           isa);
  mille_kernel_function kernel = it.function;
  const int64_t rowUnit = it.parsed->info.rowUnit,
                columnUnit = it.parsed->info.columnUnit;
  for (int64_t rows : {1, 7, 64, 131})
    for (auto side : sides) {
      const std::string name = "weight gradient " + text(N) + " x " + text(K) +
                               ", " + text(rows) + " rows" + wordsOf(kind) +
                               ": ";
      Rows g(rows, N, 1, side), x(rows, K, 2, side);
      if (kind)
        g.spoil(*kind, /*across=*/true);
      for (int64_t m = 1; kind == Hostile::cancelling && m < rows; m += 2)
        for (int64_t k = 0; k < K; ++k)
          x.at(m, k) = x.at(m - 1, k);
      Guarded out(N * K, side);
      const std::vector<float> before = drawn(N * K, 3);
      auto run = [&](int64_t n0, int64_t n1, int64_t k0, int64_t k1, int64_t m0,
                     int64_t m1) {
        Argument gradient = matrix(g.numbers.data() + m0 * g.stride + n0,
                                   m1 - m0, n1 - n0, g.stride);
        Argument task = matrix(out.data() + n0 * K + k0, n1 - n0, k1 - k0, K);
        task.dimensions[0].min = int32_t(k0);
        expect(call(kernel, {gradient, x.from(m0, m1)}, {}, task) == 0,
               name + "status");
      };
      checkSums(name, {N, K, rowUnit, columnUnit, rows, /*cut=*/5}, g, x,
                before, out, double(rows + 1), run);
    }
}

struct NormCase {
  int64_t columns, group;
  const char *kind;
  bool weighted, normed;
};

// The gradient of the input of a norm, and the normed row, of one group; gives
// the norm's scale.
double normReference(const NormCase &c, const double *x, const double *q,
                     double *gradient, double *normed) {
  const std::string kind = c.kind;
  const int64_t n = c.group;
  double mean = 0, squares = 0, sum = 0, dot = 0;
  for (int64_t i = 0; i < n; ++i)
    mean += kind == "layer" ? x[i] / double(n) : 0;
  for (int64_t i = 0; i < n; ++i)
    squares += (x[i] - mean) * (x[i] - mean);
  const double scale = kind == "l2" ? 1 / std::max(std::sqrt(squares), 1e-5)
                                    : 1 / std::sqrt(squares / double(n) + 1e-5);
  const bool isShort = kind == "l2" && std::sqrt(squares) <= 1e-5;
  for (int64_t i = 0; i < n; ++i) {
    normed[i] = (x[i] - mean) * scale;
    sum += q[i];
    dot += q[i] * normed[i];
  }
  for (int64_t i = 0; i < n; ++i)
    gradient[i] = scale * (q[i] - (kind == "layer" ? sum / double(n) : 0) -
                           (isShort ? 0 : normed[i] * dot) /
                               (kind == "l2" ? 1 : double(n)));
  return scale;
}

// ofInput: the input is spoilt, not the gradient.
void normBackward(const Target &isa, const NormCase &c, Spoilt kind = {},
                  bool ofInput = false) {
  static const double bound = toleranceOf("kernel_norm_gradient").relative,
                      ofNormed = toleranceOf("kernel_normed").relative;
  const int64_t N = c.columns;
  const std::string t = rowsType(N, strideOf(N)),
                    w = "memref<" + text(N) + "xf32>";
  std::string norm = std::string("<") + c.kind + ", 1.000000e-05";
  norm += c.group == N ? ">" : ", group = " + text(c.group) + ">";
  const MadeKernel &it = made(
      "func.func @f(%g: " + t + ", %x: " + t + ", %w: " + w + ", %a: " + t +
          ", %b: " + t + ") {\n kernel.norm_backward %g, %x" +
          (c.weighted ? " weight %w : " + w : "") + " outs(%a" +
          (c.normed ? ", %b : " + t + ", " + t : " : " + t) + ") norm " + norm +
          " : " + t + ", " + t + "\n return\n}\n",
      isa);
  mille_kernel_function kernel = it.function;
  for (int64_t rows : {1, 2, 9})
    for (auto side : sides) {
      const std::string name = std::string("norm backward ") + c.kind + " " +
                               text(N) + " by " + text(c.group) + ", " +
                               text(rows) + " rows" + wordsOf(kind) +
                               (ofInput ? " input: " : ": ");
      Rows g(rows, N, 10, side), x(rows, N, 11, side), out(rows, N, 12, side),
          hat(rows, N, 13, side);
      if (kind)
        (ofInput ? x : g).spoil(*kind);
      Guarded weight(N, side);
      fill(weight, drawn(N, 14));
      auto run = [&](int64_t m0, int64_t m1) {
        std::vector<Argument> inputs{g.from(m0, m1), x.from(m0, m1)};
        if (c.weighted)
          inputs.push_back(mille::test::vector(weight.data(), N));
        if (c.normed)
          inputs.push_back(out.from(m0, m1));
        expect(call(kernel, inputs, {},
                    c.normed ? hat.from(m0, m1) : out.from(m0, m1)) == 0,
               name + "status");
      };
      run(0, rows);
      for (int64_t m = 0; m < rows; ++m)
        for (int64_t first = 0; first < N; first += c.group) {
          std::vector<double> row(c.group), q(c.group), gx(c.group),
              normed(c.group);
          double largest = 0;
          for (int64_t i = 0; i < c.group; ++i) {
            row[i] = x.at(m, first + i);
            q[i] = g.at(m, first + i) * (c.weighted ? weight[first + i] : 1.0);
            largest = std::max(largest, std::fabs(q[i]));
          }
          const double scale =
              normReference(c, row.data(), q.data(), gx.data(), normed.data());
          for (int64_t i = 0; i < c.group; ++i) {
            expect(isWithin(out.at(m, first + i), gx[i],
                            bound * scale * (std::fabs(q[i]) + largest)),
                   name + "error " + std::to_string(out.at(m, first + i)) +
                       " for " + std::to_string(gx[i]));
            expect(!c.normed || isWithin(hat.at(m, first + i), normed[i],
                                         ofNormed * (1 + std::fabs(normed[i]))),
                   name + "error of the normed row");
          }
        }
      const std::vector<float> whole = copyOf(out.numbers),
                               wholeHat = copyOf(hat.numbers);
      for (int64_t m = 0; m < rows; m += 1 + m % 2)
        run(m, std::min(rows, m + 1 + m % 2));
      expect(sameBits(whole, out.numbers) && sameBits(wholeHat, hat.numbers),
             name + "bits differ between tasks");
    }
}

void crossEntropy(const Target &isa, int64_t N, double smoothing,
                  Spoilt kind = {}) {
  static const double ofGradient = toleranceOf("kernel_cross_entropy").relative,
                      ofLoss = toleranceOf("kernel_loss").relative;
  const std::string t = rowsType(N, strideOf(N)), l = rowsType(1, strideOf(1));
  const MadeKernel &it = made(
      "func.func @f(%z: " + t +
          ", %y: memref<?xi32>, %t: memref<1xf32>, %a: " + l + ", %b: " + t +
          ") {\n kernel.cross_entropy %z labels %y : "
          "memref<?xi32> times %t : memref<1xf32> losses(%a : " +
          l + ") gradient(%b : " + t + ")" +
          (smoothing > 0 ? " smoothing " + std::to_string(smoothing) : "") +
          " : " + t + "\n return\n}\n",
      isa);
  mille_kernel_function kernel = it.function;
  for (int64_t rows : {1, 2, 13})
    for (auto side : sides) {
      const std::string name = "cross entropy " + text(N) + ", " + text(rows) +
                               " rows" + wordsOf(kind) + ": ";
      Rows z(rows, N, 15, side, 4), losses(rows, 1, 16, side),
          gradient(rows, N, 17, side);
      if (kind)
        z.spoil(*kind);
      Guarded labels(rows, side), times(1, side);
      times[0] = 0.25f;
      auto *ids = labels.as<int32_t>();
      for (int64_t m = 0; m < rows; ++m) // -100: not counted
        ids[m] = m % 3 == 1 ? -100 : int32_t(m * 31 % N);
      auto run = [&](int64_t m0, int64_t m1) {
        expect(call(kernel,
                    {z.from(m0, m1), mille::test::vector(ids + m0, m1 - m0),
                     mille::test::vector(times.data(), 1), losses.from(m0, m1)},
                    {}, gradient.from(m0, m1)) == 0,
               name + "status");
      };
      run(0, rows);
      for (int64_t m = 0; m < rows; ++m) {
        double top = z.at(m, 0), sum = 0, loss = 0, least = top;
        for (int64_t n = 0; n < N; ++n) {
          top = std::max<double>(top, z.at(m, n));
          least = std::min<double>(least, z.at(m, n));
        }
        for (int64_t n = 0; n < N; ++n)
          sum += std::exp(z.at(m, n) - top);
        const bool counts = ids[m] >= 0; // others: 0, whatever their logits
        const double scale = counts ? 0.25 : 0;
        for (int64_t n = 0; n < N; ++n) {
          const double logarithm =
                           counts ? z.at(m, n) - top - std::log(sum) : 0,
                       target = smoothing / double(N) +
                                (n == ids[m] ? 1 - smoothing : 0);
          loss -= scale * target * logarithm;
          expect(isWithin(gradient.at(m, n),
                          scale * (std::exp(logarithm) - target),
                          ofGradient * scale),
                 name + "error of the gradient");
        }
        expect(isWithin(losses.at(m, 0), loss,
                        counts ? ofLoss * scale * (4 + top - least) : 0),
               name + "error of the loss " + std::to_string(losses.at(m, 0)) +
                   " for " + std::to_string(loss));
      }
      const std::vector<float> whole = copyOf(gradient.numbers),
                               wholeLosses = copyOf(losses.numbers);
      for (int64_t m = 0; m < rows; m += 1 + m % 4)
        run(m, std::min(rows, m + 1 + m % 4));
      expect(sameBits(whole, gradient.numbers) &&
                 sameBits(wholeLosses, losses.numbers),
             name + "bits differ between tasks");
    }
}

void pack(const Target &isa, int64_t N, int64_t K, bool transposed) {
  constexpr int64_t panel = 48;
  const int64_t rows = transposed ? K : N, steps = transposed ? N : K,
                panels = (rows + panel - 1) / panel;
  const std::string w = fixedType(N, K), o = "memref<" + text(panels) + "x" +
                                             text(steps) + "x" + text(panel) +
                                             "xf32>";
  ParsedKernel parsed("func.func @f(%w: " + w + ", %o: " + o +
                      ") {\n kernel.pack %w" +
                      (transposed ? " transposed" : "") + " outs(%o : " + o +
                      ") : " + w + "\n return\n}\n");
  mille_kernel_function kernel = load(parsed, isa, RowClass::many);
  const int64_t unit = parsed.info.rowUnit;
  for (auto side : sides) {
    const std::string name = "pack " + text(N) + " x " + text(K) + ": ";
    Guarded weight(N * K, side), out(panels * steps * panel, side);
    fill(weight, drawn(N * K, 18));
    for (int64_t from = 0; from < steps; from += 2 * unit) {
      const int64_t count = std::min(2 * unit, steps - from);
      Argument in = matrix(weight.data() + from * (transposed ? K : 1),
                           transposed ? count : N, transposed ? K : count, K);
      Argument task{out.data() + from * panel,
                    {{0, int32_t(panel), 1, 0},
                     {0, int32_t(count), int32_t(panel), 0},
                     {0, int32_t(panels), int32_t(panel * steps), 0}}};
      expect(call(kernel, {in}, {}, task) == 0, name + "status");
    }
    for (int64_t p = 0; p < panels; ++p)
      for (int64_t step = 0; step < steps; ++step)
        for (int64_t j = 0; j < panel; ++j) {
          const int64_t row = p * panel + j;
          const float want = row >= rows  ? 0
                             : transposed ? weight[step * K + row]
                                          : weight[row * K + step];
          expect(out[(p * steps + step) * panel + j] == want, name + "wrong");
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
                      {31, 100},
                      {50, 96},
                      {24, 33},
                      {392, 528}}) // whose input does not stay in L2
    weightGradient(isa, N, K);
  for (const char *kind : {"layer", "rms", "l2"})
    for (int64_t N : {2, 17, 96, 300}) {
      normBackward(isa, {N, N, kind, true, true});
      normBackward(isa, {N, N, kind, false, false});
      if (N % 3 == 0)
        normBackward(isa, {N, N / 3, kind, true, N == 96});
    }
  for (int64_t N : {2, 17, 64, 1000}) {
    crossEntropy(isa, N, 0);
    crossEntropy(isa, N, 0.125);
  }
  for (Hostile kind : hostileKinds) {
    weightGradient(isa, 31, 100, kind);
    crossEntropy(isa, 64, 0, kind);
    crossEntropy(isa, 64, 0.125, kind);
    for (const char *norm : {"layer", "rms", "l2"})
      for (bool ofInput : {false, true})
        normBackward(isa, {96, 96, norm, true, true}, kind, ofInput);
  }
  for (bool transposed : {false, true})
    for (auto [N, K] :
         {std::pair{1, 1}, {48, 16}, {50, 33}, {96, 40}, {7, 100}})
      pack(isa, N, K, transposed);
  printf("%d failures\n", failures);
  return failures != 0;
}
