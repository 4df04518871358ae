// Compares attention's backward pass with double: heads that share keys, masks,
// windows, soft caps, biases, sinks, more keys than queries, hostile numbers,
// every cut of heads into tasks; every buffer ends at a guard page.
//
// REQUIRES: x86-64-v4
// RUN: %programs/kernel-attention-backward widest odd
#include "compiler/kernels/ReadSpec.h"
#include "compiler/weights/Elements.h"
#include "test/compiler/halide/Inputs/AttentionBackwardCase.h"
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
constexpr double u = 0x1p-24, ofBf16 = 0x1p-8;

void expect(bool holds, const std::string &what) {
  if (!holds && ++failures <= 40)
    printf("%s\n", what.c_str());
}

// Heads side by side in rows.
struct Heads {
  Heads(int64_t rows, int64_t heads, int64_t width, unsigned seed,
        Guarded::Side side)
      : rows(rows), heads(heads), width(width), stride(strideOf(heads * width)),
        numbers((rows - 1) * stride + heads * width, side),
        halves(numbers.size(), side, 2) {
    std::mt19937 random(seed);
    std::normal_distribution<float> draw(0.1f, 1);
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t n = 0; n < heads * width; ++n)
        numbers[m * stride + n] = draw(random);
  }
  // Rounds all to bf16, which kernels read then.
  void narrow() {
    isNarrow = true;
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t n = m * stride; n < m * stride + heads * width; ++n)
        numbers[n] =
            widenBf16(halves.as<uint16_t>()[n] = narrowBf16(numbers[n]));
  }
  const float *at(int64_t m, int64_t h) const {
    return numbers.data() + m * stride + h * width;
  }
  void spoil(Hostile kind) {
    std::mt19937 random(5);
    mille::test::spoil(
        kind, rows, heads * width,
        [&](int64_t m, int64_t n) -> float & {
          return numbers[m * stride + n];
        },
        [&](int64_t n) { return int64_t(random() % uint64_t(n)); });
  }
  std::string type() const {
    return rowsOf(heads * width, stride, isNarrow ? "bf16" : "f32");
  }
  Argument all() {
    return matrix(isNarrow ? halves.data() : numbers.data(), rows,
                  heads * width, stride);
  }
  // As lower describes an out: heads are its third dimension.
  Argument inHeads(int64_t first, int64_t end) {
    return {numbers.data() + first * width,
            {{0, int32_t(width), 1, 0},
             {0, int32_t(rows), int32_t(stride), 0},
             {int32_t(first), int32_t(end - first), int32_t(width), 0}}};
  }

  int64_t rows, heads, width, stride;
  Guarded numbers, halves;
  bool isNarrow = false;
};

// A gradient, and the sizes of the terms that it sums.
struct Wanted {
  std::vector<double> sum, size;
  int64_t heads, width;
  Wanted(int64_t rows, int64_t heads, int64_t width)
      : sum(rows * heads * width), size(sum.size()), heads(heads),
        width(width) {}
  void addAt(int64_t m, int64_t h, int64_t c, double term, double termSize) {
    sum[(m * heads + h) * width + c] += term;
    size[(m * heads + h) * width + c] += termSize;
  }
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
  // Biases of keys and by distance, and sinks, as a row for each head or key.
  Heads ofKeys, table, sinks;
  std::vector<int32_t> mask, segments;
  double scale = 0.3;

  Problem(const Case &c, int64_t queries, int64_t keys, Guarded::Side side)
      : c(c), queries(queries), keys(keys),
        query(queries, c.heads, c.headDim, 1, side),
        key(keys, c.kvHeads, c.headDim, 2, side),
        value(keys, c.kvHeads, c.valueDim, 3, side),
        gradient(queries, c.heads, c.valueDim, 4, side),
        ofKeys(keys, c.keyColumns ? c.keyColumns : c.heads, 1, 11, side),
        table(c.heads, 1, c.tableWidth(), 12, side),
        sinks(1, c.heads, 1, 13, side), mask(keys, 1), segments(keys) {
    for (int64_t j = 0; j < keys; ++j) {
      mask[j] = !c.masked || j % 4 != 1;
      segments[j] = int32_t(j / 5 % 2);
    }
    for (auto [name, heads] :
         {std::pair{'q', &query}, {'k', &key}, {'v', &value}, {'g', &gradient}})
      if (c.spoilt == name)
        heads->spoil(c.kind);
    if (c.narrow)
      for (Heads *heads : {&query, &key, &value, &gradient})
        heads->narrow();
  }

  static double slopeOf(int64_t h) { return 0.25 / double(1 << h); }
  int64_t ofKeysAt(int64_t h) const { return h / (c.heads / ofKeys.heads); }
  int64_t columnOf(int64_t i, int64_t j) const {
    if (c.pairs)
      return j;
    return std::clamp(j - i, -c.distances / 2, c.distances / 2) +
           c.distances / 2;
  }
  double added(int64_t h, int64_t i, int64_t j) const {
    double sum = c.byKey ? double(*ofKeys.at(j, ofKeysAt(h))) : 0;
    sum += c.sloped ? slopeOf(h) * double(j - i) : 0;
    const int64_t place = (c.pairs ? i * keys : 0) + columnOf(i, j);
    return sum + (c.tabled() ? double(table.at(h, 0)[place]) : 0);
  }

  bool sees(int64_t i, int64_t j) const {
    return mask[j] && (!c.causal || j <= i) && (!c.left || j > i - c.left) &&
           (!c.right || j < i + c.right) &&
           (!c.chunk || i / c.chunk == j / c.chunk) &&
           (!c.segmented || segments[i] == segments[j]);
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

  struct Gradients {
    Wanted key, value, query, keyBias, bias, sink;
  };

  void addQuery(int64_t h, int64_t i, Gradients &into) const {
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
      p[j] = (c.softcap > 0 ? c.softcap * t : score) + added(h, i, j);
      scoreSize = std::max(scoreSize, std::fabs(added(h, i, j)));
      slope[j] = 1 - t * t;
      product[j] =
          dot(gradient.at(i, h), value.at(j, shared), c.valueDim, size[j]);
      top = std::max(top, p[j]);
    }
    const double sink = c.sink ? double(*sinks.at(0, h)) : -HUGE_VAL;
    top = std::max(top, sink);
    for (int64_t j = 0; j < keys; ++j)
      sum += p[j] = sees(i, j) ? std::exp(p[j] - top) : 0;
    const double ofSink = c.sink ? std::exp(sink - top) : 0;
    sum += ofSink;
    for (int64_t j = 0; j < keys; ++j) {
      p[j] /= sum > 0 ? sum : 1;
      mean += p[j] * product[j];
      meanSize += p[j] * size[j];
    }
    if (c.sink)
      into.sink.addAt(i, h, 0, -ofSink / sum * mean,
                      ofSink / sum * meanSize * (1 + scoreSize));
    for (int64_t j = 0; j < keys; ++j) {
      if (!sees(i, j))
        continue;
      const double change = p[j] * (product[j] - mean),
                   changeSize = p[j] * (size[j] + meanSize) * (1 + scoreSize);
      if (c.tabled())
        into.bias.addAt(i, h, columnOf(i, j), change, changeSize);
      if (c.keyColumns)
        into.keyBias.addAt(j, ofKeysAt(h), 0, change, changeSize);
      const double d = scale * p[j] * (product[j] - mean) * slope[j],
                   dSize =
                       scale * p[j] * (size[j] + meanSize) * (1 + scoreSize);
      into.value.add(j, shared, p[j], p[j] * (1 + scoreSize),
                     gradient.at(i, h));
      into.key.add(j, shared, d, dSize, query.at(i, h));
      into.query.add(i, h, d, dSize, key.at(j, shared));
    }
  }
};

void compare(const Heads &got, const Wanted &want, int64_t terms,
             const std::string &name, const Case &c) {
  const double share = double(terms + 64) * 2 * u + (c.narrow ? ofBf16 : 0);
  for (int64_t m = 0; m < got.rows; ++m)
    for (int64_t n = 0; n < got.heads * got.width; ++n) {
      const int64_t at = m * got.heads * got.width + n;
      const double own = got.numbers[m * got.stride + n],
                   error = std::fabs(own - want.sum[at]);
      expect(std::isfinite(want.sum[at])
                 ? (c.spreads() && !std::isfinite(own)) ||
                       error <= share * want.size[at] + 1e-30
                 : !std::isfinite(own),
             name + "error " + std::to_string(error) + " of " +
                 std::to_string(want.sum[at]));
    }
}

using Outs = std::vector<std::unique_ptr<Heads>>; // in the op's order
Outs outsOf(const Problem &p, unsigned seed, Guarded::Side side) {
  const Case &c = p.c;
  Outs outs;
  auto add = [&](int64_t rows, int64_t heads, int64_t width) {
    outs.push_back(std::make_unique<Heads>(rows, heads, width, seed++, side));
  };
  add(p.keys, c.kvHeads, c.headDim);
  add(p.keys, c.kvHeads, c.valueDim);
  if (c.keyColumns)
    add(p.keys, c.keyColumns, 1);
  if (c.tabled())
    add(p.queries, c.heads, c.biasWidth());
  if (c.sink)
    add(p.queries, c.heads, 1);
  add(p.queries, c.heads, c.headDim);
  return outs;
}

std::string textOf(const Case &c, const Problem &p, const Outs &outs) {
  const std::string fixed = "memref<" + text(c.heads) + "x" +
                            text(c.tableWidth()) + "xf32, strided<[" +
                            text(p.table.stride) + ", 1]>>",
                    sinks = "memref<" + text(c.heads) + "xf32>";
  const EntryText entry{c.most};
  std::string names, types,
      t = "func.func @f(%t: index" + entry.size("t") + ", %s: index" +
          entry.size("s");
  for (auto [name, type] :
       {std::pair<const char *, std::string>{"q", p.query.type()},
        {"k", p.key.type()},
        {"v", p.value.type()},
        {"g", p.gradient.type()},
        {"m", "memref<?xi32>"},
        {"kb", p.ofKeys.type()},
        {"sk", sinks},
        {"db", fixed},
        {"sg", "memref<?xi32>"}})
    t += std::string(", %") + name + ": " + type + entry.input(name);
  for (size_t i = 0; i < outs.size(); ++i) {
    const std::string name = "o" + text(int64_t(i));
    t += ", %" + name + ": " + outs[i]->type() + entry.output(name);
    names += (i ? ", %o" : "%o") + text(int64_t(i));
    types += (i ? ", " : "") + outs[i]->type();
  }
  t += ") {\n kernel.attention_backward %q, %k, %v gradient %g : " +
       p.gradient.type();
  if (c.masked)
    t += " key_mask %m : memref<?xi32>";
  if (c.byKey)
    t += " key_head_bias %kb : " + p.ofKeys.type();
  if (c.sink)
    t += " sink %sk : " + sinks;
  if (c.tabled())
    t += " bias %db : " + fixed;
  if (c.segmented)
    t += " segments %sg : memref<?xi32>";
  t += " queries %t keys %s outs(" + names + " : " + types + ") heads " +
       text(c.heads) + " kv_heads " + text(c.kvHeads) + " head_dim " +
       text(c.headDim) + " value_dim " + text(c.valueDim) +
       " offsets [0, 0, 0] scale 0.3 causal " + (c.causal ? "true" : "false");
  if (c.softcap > 0)
    t += " softcap " + std::to_string(c.softcap);
  if (c.sloped) {
    t += " slopes [";
    for (int64_t h = 0; h < c.heads; ++h)
      t += (h ? ", " : "") + std::to_string(Problem::slopeOf(h));
    t += "]";
  }
  if (c.left || c.right)
    t += " window [" + text(c.left) + ", " + text(c.right) + "]";
  if (c.chunk)
    t += " chunk " + text(c.chunk);
  if (c.tabled())
    t += c.pairs ? " bias_by pair" : " bias_by distance";
  if (c.keyColumns)
    t += " key_head_gradient";
  t += " : " + p.query.type() + ", " + p.key.type() + ", " + p.value.type() +
       "\n return\n}\n";
  return entry.around(t, "s");
}

bool sameBits(const Guarded &a, const Guarded &b) {
  return !memcmp(a.data(), b.data(), a.size() * 4);
}

std::vector<Argument> inputsOf(const Case &c, Problem &p, Guarded &mask,
                               Guarded &segments) {
  std::vector<Argument> inputs{p.query.all(), p.key.all(), p.value.all(),
                               p.gradient.all()};
  if (c.masked)
    inputs.push_back(mille::test::vector(mask.data(), p.keys));
  if (c.byKey)
    inputs.push_back(p.ofKeys.all());
  if (c.sink)
    inputs.push_back(mille::test::vector(p.sinks.numbers.data(), c.heads));
  if (c.tabled())
    inputs.push_back(p.table.all());
  if (c.segmented)
    inputs.push_back(mille::test::vector(segments.data(), p.keys));
  return inputs;
}

// Every gradient, and its bits where heads are computed in groups.
void checkSizes(const Case &c, Problem &p, const ParsedKernel &parsed,
                mille_kernel_function kernel, Guarded::Side side) {
  const std::string name =
      nameOf(c) + text(p.queries) + " x " + text(p.keys) + ": ";
  Outs outs = outsOf(p, 5, side), parts = outsOf(p, 20, side);
  Guarded mask(p.keys, side), segments(p.keys, side);
  memcpy(mask.data(), p.mask.data(), p.keys * 4);
  memcpy(segments.data(), p.segments.data(), p.keys * 4);
  auto run = [&](Outs &into, int64_t first, int64_t end) {
    std::vector<Argument> inputs = inputsOf(c, p, mask, segments);
    for (size_t i = 0; i + 1 < into.size(); ++i)
      inputs.push_back(into[i]->inHeads(0, into[i]->heads));
    resetScratch();
    expect(call(kernel, inputs, {int32_t(p.queries), int32_t(p.keys)},
                into.back()->inHeads(first, end)) == 0,
           name + "status");
    const size_t most =
        parsed.info.scratchBytes + parsed.info.scratchBytesPerToken * p.keys;
    expect(peakScratch() <= most, name + "takes " + text(peakScratch()) +
                                      " bytes of scratch, not " + text(most));
  };
  run(outs, 0, c.heads);
  Problem::Gradients want{
      {p.keys, c.kvHeads, c.headDim},      {p.keys, c.kvHeads, c.valueDim},
      {p.queries, c.heads, c.headDim},     {p.keys, p.ofKeys.heads, 1},
      {p.queries, c.heads, c.biasWidth()}, {p.queries, c.heads, 1}};
  for (int64_t h = 0; h < c.heads; ++h)
    for (int64_t i = 0; i < p.queries; ++i)
      p.addQuery(h, i, want);
  size_t next = 0;
  compare(*outs[next++], want.key, p.queries + p.keys,
          name + "of the key: ", c);
  compare(*outs[next++], want.value, p.queries + p.keys,
          name + "of the value: ", c);
  if (c.keyColumns)
    compare(*outs[next++], want.keyBias, p.queries + p.keys,
            name + "of the bias of keys: ", c);
  if (c.tabled())
    compare(*outs[next++], want.bias, p.keys, name + "of the bias: ", c);
  if (c.sink)
    compare(*outs[next++], want.sink, p.keys, name + "of the sink: ", c);
  compare(*outs[next], want.query, p.keys, name + "of the query: ", c);
  for (size_t i = 0; i < outs.size(); ++i) {
    Heads &part = *parts[i];
    const int64_t used = part.heads * part.width;
    for (int64_t m = 0; m + 1 < part.rows; ++m) // what lies between rows
      memcpy(part.numbers.data() + m * part.stride + used,
             outs[i]->numbers.data() + m * part.stride + used,
             (part.stride - used) * 4);
  }
  const int64_t group =
      c.heads / std::min(c.kvHeads, c.keyColumns ? c.keyColumns : c.kvHeads);
  for (int64_t h = 0; h < c.heads; h += group)
    run(parts, h, h + group);
  for (size_t i = 0; i < outs.size(); ++i)
    expect(sameBits(outs[i]->numbers, parts[i]->numbers),
           name + "bits differ between tasks in out " + text(int64_t(i)));
}

void check(const Case &c, const Target &isa) {
  using Sizes = std::pair<int64_t, int64_t>;
  for (Sizes sizes : {Sizes{1, 1}, Sizes{7, 7}, Sizes{33, 33}, Sizes{70, 70},
                      Sizes{9, 40}, Sizes{40, 30}})
    for (auto side : {Guarded::Side::end, Guarded::Side::start}) {
      if ((c.segmented && sizes.first != sizes.second) ||
          (c.spoilt && sizes.first != 33))
        continue;
      if (c.pairs && sizes != Sizes{c.pairs, c.pairs})
        continue;
      if (c.most ? sizes.second > c.most : sizes.first > sizes.second)
        continue;
      Problem p(c, sizes.first, sizes.second, side);
      const MadeKernel &it = made(textOf(c, p, outsOf(p, 5, side)), isa);
      checkSizes(c, p, *it.parsed, it.function, side);
    }
}

// Runs are short where none has more keys than mostOfShort, and where a size
// has no bound they are not.
void checkShortRuns(Case c) {
  const int64_t most = AttentionBackwardSpec::mostOfShort;
  for (int64_t bound : {int64_t(0), int64_t(1), most, most + 1}) {
    c.most = bound;
    Problem p(c, 1, 1, Guarded::Side::end);
    ParsedKernel parsed(textOf(c, p, outsOf(p, 5, Guarded::Side::end)));
    KernelSpec spec;
    expect(mlir::succeeded(readSpec(parsed.op, spec)) &&
               spec.attentionBackward.shortRuns == (bound && bound <= most),
           nameOf(c) + "whether runs are short");
  }
}

} // namespace

int main(int argc, char **argv) {
  const Target &isa = isaToTest(argc, argv);
  Turns turns(argc, argv);
  auto judge = [&](const Case &c) {
    if (turns.takesNext())
      check(c, isa);
  };
  judge({1, 1, 16, 16});
  judge({2, 2, 64, 64, true});
  judge({2, 1, 64, 64}); // whole tiles, in blocks of more queries
  judge({4, 2, 8, 20, true, true});
  judge({6, 2, 33, 17, false, true});
  judge({2, 1, 48, 48, false, false, 5.0});
  judge({2, 2, 16, 24, true, true, 3.0});
  judge({2, 2, 32, 32, true, false, 0, 9, 0});
  judge({1, 1, 7, 3, false, false, 0, 5, 12});
  Case alibi{4, 2, 16, 16, true}, table{2, 2, 16, 16}, sinks{4, 2, 16, 8, true},
      all{2, 1, 16, 16, false, true, 3.0};
  alibi.sloped = true;
  judge(alibi);
  table.distances = 9;
  judge(table);
  sinks.sink = true;
  sinks.chunk = 8;
  judge(sinks);
  Case pairs{2, 2, 16, 16}, keys{4, 2, 16, 16, true}, shared{4, 2, 8, 8};
  pairs.pairs = 33;
  judge(pairs);
  keys.byKey = shared.byKey = true;
  keys.keyColumns = 2;
  judge(keys);
  shared.keyColumns = 1; // for both key heads
  shared.pairs = 7;
  judge(shared);
  all.sloped = all.byKey = all.sink = all.segmented = true;
  all.distances = 5;
  judge(all);
  Case little{2, 1, 64, 64}; // of short runs: in blocks of fewer queries
  little.most = AttentionBackwardSpec::mostOfShort;
  judge(little);
  checkShortRuns(little);
  for (Case narrow : {Case{2, 1, 64, 32}, Case{2, 2, 32, 96, true, true},
                      Case{1, 1, 16, 16}}) { // the last has no pairs
    narrow.narrow = true;
    check(narrow, isa);
  }
  // Scores that are huge differ by more than their rounding tells apart, and
  // those that are no numbers have no weight (HostileTest.cpp).
  for (Hostile kind : hostileKinds)
    for (char which : {'q', 'k', 'v', 'g'}) {
      const bool ofScores = which == 'q' || which == 'k';
      if (ofScores && (kind == Hostile::mixed || kind == Hostile::oneNaN ||
                       kind == Hostile::oneInfinity))
        continue;
      Case hostile{4, 2, 8, 20, true, true};
      hostile.spoilt = which;
      hostile.kind = kind;
      check(hostile, isa);
    }
  printf("%d failures\n", failures);
  return failures != 0;
}
