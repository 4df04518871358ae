// The attention core of one sequence: head sizes, grouped heads, masks, and
// where a rotation is cheapest, in attention's prologue or before it.
#include "benchmarks/kernels/Measure.h"

using namespace mille;
using namespace mille::benchmarks;

namespace {

struct Heads {
  int64_t count, groups, dim; // groups: of key and value heads
};

struct Attention {
  Element element; // of queries, keys, values and the result
  int64_t tokens;
  Heads heads;
  bool causal = false, masked = false, turned = false, byteScores = false;

  NumberType number() const {
    return element.bytes == 2 ? NumberType::bf16 : NumberType::f32;
  }
  int64_t queries() const { return heads.count * heads.dim; }
  int64_t keys() const { return heads.groups * heads.dim; }
  int64_t width() const { return queries() + 2 * keys(); }
  double flops() const {
    return 4.0 * tokens * tokens * queries() * (causal ? 0.5 : 1.0);
  }

  std::string text() const {
    std::string x = rowsType(width(), paddedStride(width(), element), element);
    std::string o =
        rowsType(queries(), paddedStride(queries(), element), element);
    std::string d = std::to_string(heads.dim), r = "memref<?x" + d + "xf32>";
    return "func.func @f(%t: index, %p: index, %x: " + x + ", %o: " + o +
           ", %m: memref<?xi32>, %r: " + r +
           ") {\n kernel.attention %x, %x, %x" +
           (masked ? " key_mask %m : memref<?xi32>" : "") +
           (turned ? " rotation %r : " + r : "") +
           " queries %t keys %t first %p outs(%o : " + o + ") heads " +
           std::to_string(heads.count) + " kv_heads " +
           std::to_string(heads.groups) + " head_dim " + d + " value_dim " + d +
           " offsets [0, " + std::to_string(queries()) + ", " +
           std::to_string(queries() + keys()) + "] scale 0.125 causal " +
           (causal ? "true" : "false") + (byteScores ? " byte_scores" : "") +
           " : " + x + ", " + x + ", " + x + "\n return\n}\n";
  }
};

void attention(benchmark::State &state, const Target &isa, const Attention &a) {
  mille_kernel_function function = made(a.text(), isa).function;
  int64_t stride = paddedStride(a.width(), a.element);
  int64_t outStride = paddedStride(a.queries(), a.element);
  int32_t tokens = int32_t(a.tokens), dim = int32_t(a.heads.dim);
  Buffer input(a.tokens * stride, a.element), mask(a.tokens, f32),
      rotation(a.tokens * dim, f32), out(a.tokens * outStride, a.element);
  std::fill_n(reinterpret_cast<int32_t *>(mask.data()), a.tokens, 1);
  Argument all = matrixOf(input.data(), a.tokens, a.width(), stride);
  std::vector<Argument> arguments{all, all, all};
  if (a.masked)
    arguments.push_back(test::vector(mask.data(), a.tokens));
  if (a.turned)
    arguments.push_back(matrixOf(rotation.data(), a.tokens, dim, dim));
  // A task takes the heads of one group.
  int32_t heads = int32_t(a.heads.count / a.heads.groups);
  std::vector<Task> tasks;
  for (int64_t group = 0; group < a.heads.groups; ++group)
    tasks.push_back(
        {a.flops() / double(a.heads.groups), [&, group] {
           Argument range{out.at(group * heads * dim),
                          {{0, dim, 1, 0},
                           {0, tokens, int32_t(outStride), 0},
                           {int32_t(group) * heads, heads, dim, 0}}};
           test::call(function, arguments, {tokens, tokens, 0}, range);
         }});
  measureComputing(state, isa, a.number(), tasks);
}

// One query beside `tokens` keys: keys and values are read once.
void step(benchmark::State &state, const Target &isa, const Attention &a) {
  mille_kernel_function function = made(a.text(), isa).function;
  int64_t stride = paddedStride(a.width(), a.element);
  int32_t keys = int32_t(a.tokens), dim = int32_t(a.heads.dim);
  Buffer input(a.tokens * stride, a.element), out(a.queries(), a.element);
  Argument all = matrixOf(input.data(), a.tokens, a.width(), stride);
  Argument range{out.data(),
                 {{0, dim, 1, 0},
                  {0, 1, int32_t(a.queries()), 0},
                  {0, int32_t(a.heads.count), dim, 0}}};
  size_t bytes = a.tokens * 2 * a.keys() * a.element.bytes;
  measureMoving(
      state, double(bytes),
      [&] {
        test::call(function, {all, all, all}, {1, keys, keys - 1}, range);
      },
      [&] { readAll(input.data(), bytes / 64 * 64); });
}

// RoPE by itself of `heads` heads of queries and as many of keys.
void rotate(benchmark::State &state, const Target &isa, int64_t tokens,
            int64_t heads, int64_t dim) {
  int64_t width = 2 * heads * dim, stride = paddedStride(width, f32);
  std::string x = rowsType(width, stride, f32),
              r = "memref<?x" + std::to_string(dim) + "xf32>";
  std::string text = "func.func @f(%x: " + x + ", %r: " + r + ", %o: " + x +
                     ") {\n kernel.rotate %x by %r outs(%o : " + x +
                     ") heads " + std::to_string(2 * heads) + " head_dim " +
                     std::to_string(dim) + " pairing half start 0 : " + x +
                     ", " + r + "\n return\n}\n";
  mille_kernel_function function = made(text, isa).function;
  size_t bytes = tokens * stride * 4;
  Buffer input(tokens * stride, f32), rotation(tokens * dim, f32),
      out(tokens * stride, f32);
  std::vector<Argument> arguments{matrixOf(input.data(), tokens, width, stride),
                                  matrixOf(rotation.data(), tokens, dim, dim)};
  measureMoving(
      state, 2.0 * bytes,
      [&] {
        test::call(function, arguments, {},
                   matrixOf(out.data(), tokens, width, stride));
      },
      [&] { copyAll(out.data(), input.data(), bytes); });
}

std::string tokensOf(int64_t tokens) {
  return "tokens:" + std::to_string(tokens);
}

} // namespace

static void addAttentionsOf(Element element, const Target &isa) {
  auto one = [&](const std::string &name, const Attention &a) {
    add(name + "/" + element.name, isa, tokensOf(a.tokens),
        [=](auto &s) { attention(s, isa, a); });
  };
  for (int64_t tokens : {1, 32, 33, 128, 512, 1100, 2048}) {
    Heads bert{12, 12, 64};
    one("attention-12x64", {element, tokens, bert});
    one("attention-12x64-masked", {element, tokens, bert, false, true});
    one("attention-12x64-causal", {element, tokens, bert, true});
    one("attention-12x64-turned-causal",
        {element, tokens, bert, true, false, true});
    if (element.bytes == 2) // as in int8 models
      one("attention-12x64-byte-scores",
          {element, tokens, bert, false, true, false, true});
  }
  for (int64_t tokens : {128, 512}) {
    for (int64_t dim : {32, 48, 80, 96, 128})
      one("attention-12x" + std::to_string(dim),
          {element, tokens, {12, 12, dim}});
    one("attention-32x64-groups:8", {element, tokens, {32, 8, 64}});
    one("attention-32x128-groups:8-causal",
        {element, tokens, {32, 8, 128}, true});
  }
  for (int64_t keys : {128, 1024})
    for (int64_t groups : {1, 8, 32}) {
      Attention a{element, keys, {32, groups, 128}, true};
      add("attention-32x128-groups:" + std::to_string(groups) + "-step/" +
              element.name,
          isa, "keys:" + std::to_string(keys),
          [=](auto &s) { step(s, isa, a); });
    }
  for (int64_t tokens : {1, 128, 512}) {
    Heads large{32, 32, 128};
    one("attention-32x128-causal", {element, tokens, large, true});
    one("attention-32x128-turned-causal",
        {element, tokens, large, true, false, true});
  }
}

void benchmarks::addAttentions(const Target &isa) {
  addAttentionsOf(f32, isa);
  if (hasInstructions(isa, NumberType::bf16))
    addAttentionsOf(bf16, isa);
  for (int64_t tokens : {1, 128, 512})
    add("rotate-64x128/f32", isa, tokensOf(tokens),
        [=](auto &s) { rotate(s, isa, tokens, 32, 128); });
}
