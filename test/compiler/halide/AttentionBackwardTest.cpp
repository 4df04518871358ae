// Compares attention's backward pass with double: heads that share keys, masks,
// windows, soft caps, more keys than queries, every cut of heads into tasks;
// every buffer ends at a guard page.
//
// REQUIRES: x86-64-v4
// RUN: %programs/kernel-attention-backward widest
#include "test/compiler/halide/Inputs/LoadedKernel.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

using namespace mille;
using namespace mille::test;

namespace {

int failures = 0;
constexpr double u = 0x1p-24;

struct Case {
  int64_t heads, kvHeads, headDim, valueDim;
  bool causal = false, masked = false;
  double softcap = 0;
  int64_t left = 0, right = 0; // window
};

std::string text(int64_t number) { return std::to_string(number); }
int64_t strideOf(int64_t columns) { return (columns + 15) / 16 * 16 + 16; }

std::string nameOf(const Case &c) {
  return text(c.heads) + " heads of " + text(c.kvHeads) + ", " +
         text(c.headDim) + " and " + text(c.valueDim) +
         (c.causal ? ", causal" : "") + (c.masked ? ", masked" : "") +
         (c.softcap > 0 ? ", capped" : "") +
         (c.left + c.right > 0 ? ", window" : "") + ": ";
}

void expect(bool holds, const std::string &what) {
  if (!holds && ++failures <= 40)
    printf("%s\n", what.c_str());
}

// Heads side by side in rows.
struct Heads {
  Heads(int64_t rows, int64_t heads, int64_t width, unsigned seed,
        Guarded::Side side)
      : rows(rows), heads(heads), width(width), stride(strideOf(heads * width)),
        numbers((rows - 1) * stride + heads * width, side) {
    std::mt19937 random(seed);
    std::normal_distribution<float> draw(0.1f, 1);
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t n = 0; n < heads * width; ++n)
        numbers[m * stride + n] = draw(random);
  }
  const float *at(int64_t m, int64_t h) const {
    return numbers.data() + m * stride + h * width;
  }
  std::string type() const { return rowsOf(heads * width, stride, "f32"); }
  Argument all() { return matrix(numbers.data(), rows, heads * width, stride); }
  // As lower describes an out: heads are its third dimension.
  Argument inHeads(int64_t first, int64_t end) {
    return {numbers.data() + first * width,
            {{0, int32_t(width), 1, 0},
             {0, int32_t(rows), int32_t(stride), 0},
             {int32_t(first), int32_t(end - first), int32_t(width), 0}}};
  }

  int64_t rows, heads, width, stride;
  Guarded numbers;
};

// A gradient, and the sizes of the terms that it sums.
struct Wanted {
  std::vector<double> sum, size;
  int64_t heads, width;
  Wanted(int64_t rows, int64_t heads, int64_t width)
      : sum(rows * heads * width), size(sum.size()), heads(heads),
        width(width) {}
  void add(int64_t m, int64_t h, double factor, double factorSize,
           const float *x) {
    for (int64_t c = 0; c < width; ++c) {
      sum[(m * heads + h) * width + c] += factor * x[c];
      size[(m * heads + h) * width + c] += factorSize * std::fabs(x[c]);
    }
  }
};

struct Problem {
  const Case &c;
  int64_t queries, keys;
  Heads query, key, value, gradient;
  std::vector<int32_t> mask;
  double scale = 0.3;

  Problem(const Case &c, int64_t queries, int64_t keys, Guarded::Side side)
      : c(c), queries(queries), keys(keys),
        query(queries, c.heads, c.headDim, 1, side),
        key(keys, c.kvHeads, c.headDim, 2, side),
        value(keys, c.kvHeads, c.valueDim, 3, side),
        gradient(queries, c.heads, c.valueDim, 4, side), mask(keys, 1) {
    for (int64_t j = 0; j < keys; ++j)
      mask[j] = !c.masked || j % 4 != 1;
  }

  bool sees(int64_t i, int64_t j) const {
    return mask[j] && (!c.causal || j <= i) && (!c.left || j > i - c.left) &&
           (!c.right || j < i + c.right);
  }

  static double dot(const float *a, const float *b, int64_t n, double &size) {
    double sum = 0;
    size = 0;
    for (int64_t k = 0; k < n; ++k) {
      sum += double(a[k]) * b[k];
      size += std::fabs(double(a[k]) * b[k]);
    }
    return sum;
  }

  void addQuery(int64_t h, int64_t i, Wanted &ofKey, Wanted &ofValue,
                Wanted &ofQuery) const {
    const int64_t shared = h / (c.heads / c.kvHeads);
    std::vector<double> p(keys), product(keys), size(keys), slope(keys);
    double top = -HUGE_VAL, sum = 0, mean = 0, meanSize = 0, scoreSize = 0;
    for (int64_t j = 0; j < keys; ++j) {
      if (!sees(i, j))
        continue;
      double own;
      double score =
          scale * dot(query.at(i, h), key.at(j, shared), c.headDim, own);
      scoreSize = std::max(scoreSize, scale * own);
      const double t = c.softcap > 0 ? std::tanh(score / c.softcap) : 0;
      p[j] = c.softcap > 0 ? c.softcap * t : score;
      slope[j] = 1 - t * t;
      product[j] =
          dot(gradient.at(i, h), value.at(j, shared), c.valueDim, size[j]);
      top = std::max(top, p[j]);
    }
    for (int64_t j = 0; j < keys; ++j)
      sum += p[j] = sees(i, j) ? std::exp(p[j] - top) : 0;
    for (int64_t j = 0; j < keys; ++j) {
      p[j] /= sum > 0 ? sum : 1;
      mean += p[j] * product[j];
      meanSize += p[j] * size[j];
    }
    for (int64_t j = 0; j < keys; ++j) {
      if (!sees(i, j))
        continue;
      const double d = scale * p[j] * (product[j] - mean) * slope[j],
                   dSize =
                       scale * p[j] * (size[j] + meanSize) * (1 + scoreSize);
      ofValue.add(j, shared, p[j], p[j] * (1 + scoreSize), gradient.at(i, h));
      ofKey.add(j, shared, d, dSize, query.at(i, h));
      ofQuery.add(i, h, d, dSize, key.at(j, shared));
    }
  }
};

void compare(const Heads &got, const Wanted &want, int64_t terms,
             const std::string &name) {
  for (int64_t m = 0; m < got.rows; ++m)
    for (int64_t n = 0; n < got.heads * got.width; ++n) {
      const int64_t at = m * got.heads * got.width + n;
      const double error =
          std::fabs(got.numbers[m * got.stride + n] - want.sum[at]);
      expect(error <= double(terms + 64) * 2 * u * want.size[at] + 1e-30,
             name + "error " + std::to_string(error) + " of " +
                 std::to_string(want.sum[at]));
    }
}

std::string textOf(const Case &c, const Problem &p, const Heads &k,
                   const Heads &v, const Heads &q) {
  std::string t = "func.func @f(%q: " + p.query.type() +
                  ", %k: " + p.key.type() + ", %v: " + p.value.type() +
                  ", %g: " + p.gradient.type() +
                  ", %m: memref<?xi32>, %a: " + k.type() + ", %b: " + v.type() +
                  ", %c: " + q.type() +
                  ", %t: index, %s: index) {\n kernel.attention_backward %q, "
                  "%k, %v gradient %g : " +
                  p.gradient.type();
  if (c.masked)
    t += " key_mask %m : memref<?xi32>";
  t += " queries %t keys %s outs(%a, %b, %c : " + k.type() + ", " + v.type() +
       ", " + q.type() + ") heads " + text(c.heads) + " kv_heads " +
       text(c.kvHeads) + " head_dim " + text(c.headDim) + " value_dim " +
       text(c.valueDim) + " offsets [0, 0, 0] scale 0.3 causal " +
       (c.causal ? "true" : "false");
  if (c.softcap > 0)
    t += " softcap " + std::to_string(c.softcap);
  if (c.left || c.right)
    t += " window [" + text(c.left) + ", " + text(c.right) + "]";
  return t + " : " + p.query.type() + ", " + p.key.type() + ", " +
         p.value.type() + "\n return\n}\n";
}

bool sameBits(const Guarded &a, const Guarded &b) {
  return !memcmp(a.data(), b.data(), a.size() * 4);
}

void check(const Case &c, const Target &isa) {
  mille_kernel_function kernel = nullptr;
  std::unique_ptr<ParsedKernel> parsed;
  using Sizes = std::pair<int64_t, int64_t>;
  for (Sizes sizes :
       {Sizes{1, 1}, Sizes{7, 7}, Sizes{33, 33}, Sizes{70, 70}, Sizes{9, 40}})
    for (auto side : {Guarded::Side::end, Guarded::Side::start}) {
      const int64_t queries = sizes.first, keys = sizes.second;
      const std::string name =
          nameOf(c) + text(queries) + " x " + text(keys) + ": ";
      Problem p(c, queries, keys, side);
      Heads ofKey(keys, c.kvHeads, c.headDim, 5, side),
          ofValue(keys, c.kvHeads, c.valueDim, 6, side),
          ofQuery(queries, c.heads, c.headDim, 7, side);
      Heads keyParts = Heads(keys, c.kvHeads, c.headDim, 8, side),
            valueParts = Heads(keys, c.kvHeads, c.valueDim, 9, side),
            queryParts = Heads(queries, c.heads, c.headDim, 10, side);
      if (!kernel) {
        parsed = std::make_unique<ParsedKernel>(
            textOf(c, p, ofKey, ofValue, ofQuery));
        kernel = load(*parsed, isa, RowClass::many);
      }
      Guarded mask(keys, side);
      memcpy(mask.data(), p.mask.data(), keys * 4);
      auto run = [&](Heads &k, Heads &v, Heads &q, int64_t first, int64_t end) {
        std::vector<Argument> inputs{p.query.all(), p.key.all(), p.value.all(),
                                     p.gradient.all()};
        if (c.masked)
          inputs.push_back(mille::test::vector(mask.data(), keys));
        inputs.push_back(k.inHeads(0, c.kvHeads));
        inputs.push_back(v.inHeads(0, c.kvHeads));
        resetScratch();
        expect(call(kernel, inputs, {int32_t(queries), int32_t(keys)},
                    q.inHeads(first, end)) == 0,
               name + "status");
        const size_t most = parsed->info.scratchBytes +
                            parsed->info.scratchBytesPerToken * keys;
        expect(peakScratch() <= most, name + "takes " + text(peakScratch()) +
                                          " bytes of scratch, not " +
                                          text(most));
      };
      run(ofKey, ofValue, ofQuery, 0, c.heads);
      Wanted wantedKey(keys, c.kvHeads, c.headDim),
          wantedValue(keys, c.kvHeads, c.valueDim),
          wantedQuery(queries, c.heads, c.headDim);
      for (int64_t h = 0; h < c.heads; ++h)
        for (int64_t i = 0; i < queries; ++i)
          p.addQuery(h, i, wantedKey, wantedValue, wantedQuery);
      compare(ofKey, wantedKey, queries + keys, name + "of the key: ");
      compare(ofValue, wantedValue, queries + keys, name + "of the value: ");
      compare(ofQuery, wantedQuery, keys, name + "of the query: ");
      const int64_t group = c.heads / c.kvHeads;
      for (Heads *part : {&keyParts, &valueParts, &queryParts}) {
        const Heads &whole = part == &keyParts     ? ofKey
                             : part == &valueParts ? ofValue
                                                   : ofQuery;
        for (int64_t m = 0; m + 1 < part->rows; ++m) // what lies between rows
          memcpy(part->numbers.data() + m * part->stride +
                     part->heads * part->width,
                 whole.numbers.data() + m * part->stride +
                     part->heads * part->width,
                 (part->stride - part->heads * part->width) * 4);
      }
      for (int64_t h = 0; h < c.heads; h += group)
        run(keyParts, valueParts, queryParts, h, h + group);
      expect(sameBits(ofKey.numbers, keyParts.numbers) &&
                 sameBits(ofValue.numbers, valueParts.numbers) &&
                 sameBits(ofQuery.numbers, queryParts.numbers),
             name + "bits differ between tasks");
    }
}

} // namespace

int main(int argc, char **argv) {
  const Target &isa = isaToTest(argc, argv);
  check({1, 1, 16, 16}, isa);
  check({2, 2, 64, 64, true}, isa);
  check({4, 2, 8, 20, true, true}, isa);
  check({6, 2, 33, 17, false, true}, isa);
  check({2, 1, 48, 48, false, false, 5.0}, isa);
  check({2, 2, 16, 24, true, true, 3.0}, isa);
  check({2, 2, 32, 32, true, false, 0, 9, 0}, isa);
  check({1, 1, 7, 3, false, false, 0, 5, 12}, isa);
  printf("%d failures\n", failures);
  return failures != 0;
}
