// Compares kernel.attention with double: odd head sizes, rows and keys, grouped
// heads, masks, rotation, slopes, softcap, ranges of rows and heads, several
// sequences.
//
// REQUIRES: x86-64-v4
// RUN: %programs/kernel-attention widest odd
#include "test/compiler/halide/Inputs/EntryText.h"
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
  int64_t heads, kvHeads, headDim, valueDim;
  bool causal = false, masked = false, interleaved = false;
  int64_t angles = 0;
  double softcap = 0;
  bool slopes = false;
  double scale = 0.125;
  int64_t columns() const {
    return heads * headDim + kvHeads * (headDim + valueDim);
  }
  int64_t stride() const { return (columns() + 15) / 16 * 16 + 16; }
  int64_t outStride() const { return (heads * valueDim + 15) / 16 * 16; }
  double slope(int64_t h) const {
    return slopes ? std::exp2(-double(h + 1)) : 0;
  }
};

// With at most `most` keys, if not 0.
std::string textOf(const Case &c, int64_t most = 0) {
  const EntryText entry{most};
  auto number = [](int64_t value) { return std::to_string(value); };
  std::string x = rowsOf(c.columns(), c.stride(), "f32");
  std::string o = rowsOf(c.heads * c.valueDim, c.outStride(), "f32");
  std::string r = "memref<?x" + number(2 * c.angles) + "xf32>";
  std::string text = "func.func @f(%t: index" + entry.size("t") +
                     ", %p: index" + entry.size("p") + ", %x: " + x +
                     entry.input("x") + ", %o: " + o + entry.output("o");
  if (c.masked)
    text += ", %m: memref<?xi32>" + entry.input("m");
  if (c.angles)
    text += ", %r: " + r + entry.input("r");
  text += ") {\n kernel.attention %x, %x, %x";
  if (c.masked)
    text += " key_mask %m : memref<?xi32>";
  if (c.angles)
    text += " rotation %r : " + r;
  text += " queries %t keys %t first %p outs(%o : " + o + ") heads " +
          number(c.heads) + " kv_heads " + number(c.kvHeads) + " head_dim " +
          number(c.headDim) + " value_dim " + number(c.valueDim) +
          " offsets [0, " + number(c.heads * c.headDim) + ", " +
          number((c.heads + c.kvHeads) * c.headDim) + "] scale " +
          std::to_string(c.scale) + " causal " + (c.causal ? "true" : "false");
  if (c.softcap)
    text += " softcap " + std::to_string(c.softcap);
  if (c.interleaved)
    text += " pairing interleaved";
  if (c.slopes) {
    text += " slopes [";
    for (int64_t h = 0; h < c.heads; ++h) {
      char digits[40];
      snprintf(digits, sizeof digits, "%s%.17e", h ? ", " : "", c.slope(h));
      text += digits;
    }
    text += "]";
  }
  text += " : " + x + ", " + x + ", " + x + "\n return\n}\n";
  return entry.around(text, "t");
}

struct Data {
  const Case &c;
  int64_t batch, tokens, rows;
  Guarded input, out, mask, rotation;
  std::vector<Argument> arguments;
  std::vector<double> expected; // [rows, heads * valueDim]

  Data(const Case &c, int64_t batch, int64_t tokens, Guarded::Side side,
       bool judged = true)
      : c(c), batch(batch), tokens(tokens), rows(batch * tokens),
        input((rows - 1) * c.stride() + c.columns(), side),
        out((rows - 1) * c.outStride() + c.heads * c.valueDim, side),
        mask(rows, side), rotation(rows * 2 * c.angles, side) {
    std::mt19937 random(unsigned(tokens * 31 + c.headDim));
    std::uniform_real_distribution<float> draw(-2, 2);
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t i = 0; i < c.columns(); ++i)
        input[m * c.stride() + i] = draw(random);
    for (int64_t m = 0; m < rows; ++m) // the second sequence sees nothing
      shown()[m] = m / tokens != 1 && random() % 4 != 0;
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t i = 0; i < c.angles; ++i) {
        double angle =
            double(m % tokens) * std::pow(100.0, -double(i) / c.angles);
        rotation[m * 2 * c.angles + i] = float(std::cos(angle));
        rotation[m * 2 * c.angles + c.angles + i] = float(std::sin(angle));
      }
    Argument x = matrix(input.data(), rows, c.columns(), c.stride());
    arguments = {x, x, x};
    if (c.masked)
      arguments.push_back(vector(mask.data(), rows));
    if (c.angles)
      arguments.push_back(
          matrix(rotation.data(), rows, 2 * c.angles, 2 * c.angles));
    if (judged)
      reference();
  }

  int32_t *shown() { return reinterpret_cast<int32_t *>(mask.data()); }

  // One head of a row, after rotation.
  std::vector<double> head(int64_t m, int64_t column, int64_t size, bool turn) {
    std::vector<double> v(size);
    for (int64_t d = 0; d < size; ++d)
      v[d] = input[m * c.stride() + column + d];
    std::vector<double> t = v;
    for (int64_t i = 0; turn && i < c.angles; ++i) {
      int64_t a = c.interleaved ? 2 * i : i,
              b = c.interleaved ? 2 * i + 1 : i + c.angles;
      double cosine = rotation[m * 2 * c.angles + i];
      double sine = rotation[m * 2 * c.angles + c.angles + i];
      t[a] = v[a] * cosine - v[b] * sine;
      t[b] = v[b] * cosine + v[a] * sine;
    }
    return t;
  }

  void reference() {
    expected.assign(rows * c.heads * c.valueDim, 0);
    for (int64_t s = 0; s < batch; ++s)
      for (int64_t h = 0; h < c.heads; ++h) {
        int64_t g = h / (c.heads / c.kvHeads);
        std::vector<std::vector<double>> ks, vs;
        for (int64_t j = 0; j < tokens; ++j) {
          ks.push_back(head(s * tokens + j,
                            (c.heads * c.headDim) + g * c.headDim, c.headDim,
                            true));
          vs.push_back(head(s * tokens + j,
                            (c.heads + c.kvHeads) * c.headDim + g * c.valueDim,
                            c.valueDim, false));
        }
        for (int64_t i = 0; i < tokens; ++i) {
          std::vector<double> q =
              head(s * tokens + i, h * c.headDim, c.headDim, true);
          std::vector<double> score(tokens);
          double top = -INFINITY, sum = 0;
          for (int64_t j = 0; j < tokens; ++j) {
            bool seen =
                (!c.causal || j <= i) && (!c.masked || shown()[s * tokens + j]);
            double dot = 0;
            for (int64_t d = 0; d < c.headDim; ++d)
              dot += q[d] * ks[j][d];
            dot *= c.scale;
            if (c.softcap)
              dot = c.softcap * std::tanh(dot / c.softcap);
            dot += c.slope(h) * double(j - i);
            score[j] = seen ? dot : -INFINITY;
            top = std::max(top, score[j]);
          }
          if (std::isinf(top))
            continue;
          for (double &value : score)
            sum += value = std::exp(value - top);
          for (int64_t j = 0; j < tokens; ++j)
            for (int64_t d = 0; d < c.valueDim; ++d)
              expected[((s * tokens + i) * c.heads + h) * c.valueDim + d] +=
                  score[j] / sum * vs[j][d];
        }
      }
  }

  void poison() {
    uint32_t bits = Guarded::poison();
    for (size_t i = 0; i < out.size(); ++i)
      memcpy(&out[i], &bits, 4);
  }
  int32_t run(mille_kernel_function kernel, int64_t m0, int64_t m1, int64_t h0,
              int64_t h1) {
    Argument range{&out[m0 * c.outStride() + h0 * c.valueDim],
                   {{0, int32_t(c.valueDim), 1, 0},
                    {int32_t(m0), int32_t(m1 - m0), int32_t(c.outStride()), 0},
                    {int32_t(h0), int32_t(h1 - h0), int32_t(c.valueDim), 0}}};
    return call(kernel, arguments, {int32_t(tokens), int32_t(tokens), 0},
                range);
  }
  std::vector<uint32_t> bits() const {
    std::vector<uint32_t> all(out.size());
    memcpy(all.data(), out.data(), all.size() * 4);
    return all;
  }
};

void expect(bool holds, const Case &c, int64_t tokens,
            const std::string &what) {
  if (holds)
    return;
  ++failures;
  printf("%s heads %ld/%ld dim %ld/%ld tokens %ld: %s\n", c.name, long(c.heads),
         long(c.kvHeads), long(c.headDim), long(c.valueDim), long(tokens),
         what.c_str());
}

void check(const Case &c, const Target &isa,
           const std::vector<int64_t> &sizes) {
  ParsedKernel parsed(textOf(c, sizes.back()));
  mille_kernel_function kernel = load(parsed, isa, RowClass::many);
  int64_t unit = parsed.info.columnUnit;
  for (int64_t tokens : sizes)
    for (auto side : {Guarded::Side::end, Guarded::Side::start}) {
      Data data(c, 3, tokens, side);
      resetScratch();
      for (int64_t s = 0; s < data.batch; ++s)
        expect(data.run(kernel, s * tokens, (s + 1) * tokens, 0, c.heads) == 0,
               c, tokens, "status");
      uint64_t given =
          parsed.info.scratchBytes + parsed.info.scratchBytesPerToken * tokens;
      expect(peakScratch() <= given, c, tokens,
             "scratch " + std::to_string(peakScratch()) + " of " +
                 std::to_string(given));
      double worst = 0;
      int64_t width = c.heads * c.valueDim;
      for (int64_t m = 0; m < data.rows; ++m)
        for (int64_t n = 0; n < c.outStride(); ++n) {
          if (size_t(m * c.outStride() + n) >= data.out.size())
            break;
          float got = data.out[m * c.outStride() + n];
          uint32_t bits;
          memcpy(&bits, &got, 4);
          if (n >= width) {
            expect(bits == Guarded::poison(), c, tokens, "padding written");
            continue;
          }
          double error = std::fabs(got - data.expected[m * width + n]);
          if (std::isnan(error) || (c.masked && m / tokens == 1 && got != 0))
            error = INFINITY;
          worst = std::max(worst, error);
        }
      expect(worst < 4e-6, c, tokens, "error " + std::to_string(worst));
      std::vector<uint32_t> whole = data.bits();
      data.poison();
      for (int64_t s = 0; s < data.batch; ++s)
        for (int64_t h = 0; h < c.heads; h += unit)
          for (int64_t i = 0; i < tokens; i += 1 + i % 37)
            data.run(kernel, s * tokens + i,
                     s * tokens + std::min(tokens, i + 1 + i % 37), h,
                     std::min(c.heads, h + unit));
      expect(data.bits() == whole, c, tokens, "bits differ between ranges");
    }
}

// Returns the bits of a sequence's outs with padding before and after it, which
// shifts the stretches of keys. They must not depend on the padding.
std::vector<uint32_t> besidePadding(const Case &c, mille_kernel_function kernel,
                                    int64_t before, int64_t own,
                                    int64_t after) {
  int64_t tokens = before + own + after;
  const auto side = Guarded::Side::end;
  Data sequence(c, 1, own, side, false), padded(c, 1, tokens, side, false);
  for (int64_t m = 0; m < tokens; ++m) {
    bool kept = m >= before && m < before + own;
    padded.shown()[m] = kept;
    for (int64_t i = 0; kept && i < c.columns(); ++i)
      padded.input[m * c.stride() + i] =
          sequence.input[(m - before) * c.stride() + i];
  }
  padded.run(kernel, 0, tokens, 0, c.heads);
  std::vector<uint32_t> bits = padded.bits();
  auto first = bits.begin() + before * c.outStride();
  return {first, first + (own - 1) * c.outStride() + c.heads * c.valueDim};
}

void checkPadding(const Target &isa) {
  Case c{"padded", 1, 1, 16, 16, false, true};
  ParsedKernel parsed(textOf(c));
  mille_kernel_function kernel = load(parsed, isa, RowClass::many);
  for (int64_t own : {40, 1276, 1400}) {
    std::vector<uint32_t> alone = besidePadding(c, kernel, 0, own, 0);
    for (auto [before, after] : {std::pair<int64_t, int64_t>{0, 5},
                                 {0, 1300},
                                 {8, 0},
                                 {1280, 0},
                                 {1400, 9},
                                 {24, 1277}})
      expect(besidePadding(c, kernel, before, own, after) == alone, c, own,
             "bits differ beside padding of " + std::to_string(before) +
                 " and " + std::to_string(after));
  }
}

// Scores take the memory of one stretch.
void checkScratch(const Target &isa) {
  Case c{"scratch", 1, 1, 8, 8};
  ParsedKernel parsed(textOf(c));
  mille_kernel_function kernel = load(parsed, isa, RowClass::many);
  expect(parsed.info.scratchBytesPerToken == 0, c, 0,
         "scratch grows with keys");
  size_t held[2];
  for (int i = 0; i < 2; ++i) {
    Data data(c, 1, i ? 5000 : 1281, Guarded::Side::end, false);
    resetScratch();
    data.run(kernel, 0, 1, 0, 1);
    held[i] = peakScratch();
  }
  expect(held[0] == held[1], c, 5000,
         "takes " + std::to_string(held[1]) +
             " bytes of scratch, 1281 keys take " + std::to_string(held[0]));
}

} // namespace

int main(int argc, char **argv) {
  const Target &isa = isaToTest(argc, argv);
  if (argc > 2 && std::string(argv[2]) == "long") {
    check({"long", 1, 1, 4, 4}, isa, {1280, 1281});
    check({"long", 2, 1, 5, 3, true, true}, isa, {1281, 2600});
    check({"long", 6, 2, 4, 4, true, false, false, 2}, isa, {1281});
    checkPadding(isa);
    checkScratch(isa);
    printf("%d failures\n", failures);
    return failures != 0;
  }
  std::vector<Case> cases;
  for (int64_t dim : {8, 24, 64, 80})
    cases.push_back({"plain", 2, 2, dim, dim});
  cases.push_back({"plain", 1, 1, 5, 7});
  cases.push_back({"masked", 3, 3, 16, 16, false, true});
  cases.push_back({"causal", 4, 2, 16, 8, true});
  cases.push_back({"causal masked", 4, 1, 16, 32, true, true});
  cases.push_back({"half", 4, 2, 16, 16, true, false, false, 8});
  cases.push_back({"half", 2, 2, 20, 16, false, true, false, 5});
  cases.push_back({"interleaved", 3, 1, 16, 16, true, false, true, 8});
  cases.push_back({"interleaved", 4, 4, 24, 24, false, false, true, 6});
  cases.push_back({"softcap", 2, 1, 16, 16, true, true, false, 8, 5.0});
  cases.push_back({"three of a key head", 6, 2, 16, 16, true});
  cases.push_back({"seven turned", 14, 2, 8, 8, true, true, false, 4});
  cases.push_back({"six of twelve", 12, 1, 16, 8, true});
  cases.push_back({"slopes", 6, 2, 16, 16, true, true, false, 0, 0, true});
  Turns turns(argc, argv);
  for (const Case &c : cases)
    if (turns.takesNext())
      check(c, isa, {1, 2, 7, 8, 9, 31, 32, 33, 67});
  printf("%d failures\n", failures);
  return failures != 0;
}
