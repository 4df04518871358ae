// Compares kernel.attention with each of its operands, and linear attention,
// with the interpreter: odd sizes, several sequences, numbers of queries and of
// keys that differ, and NaN and infinity in all rows that a mask hides.
//
// REQUIRES: x86-64-v4
// RUN: %programs/kernel-attention-operands widest sight f32 odd long
#include "compiler/interpret/Judge.h"
#include "test/numerics/Inputs/JudgedKernel.h"

#include <cmath>
#include <cstdio>

using namespace mille;
using namespace mille::test;

namespace {

struct Case {
  const char *operands;   // those that are there, each in blanks
  const char *attributes; // of the op, after causal
  bool causal = false;
  int64_t heads = 2, kvHeads = 2, headDim = 16, valueDim = 16;
  int64_t fewerQueries = 0, first = 0; // queries = keys - fewerQueries
  double scale = 0.25;
  bool inStretches = false; // else the kernel takes all keys at once

  bool has(const char *operand) const {
    return std::string(operands).find(" " + std::string(operand) + " ") !=
           std::string::npos;
  }
};

constexpr int64_t batch = 3, distance = 5; // distances are clamped at 5
constexpr int64_t mostKeys = 71;           // of cases that are not in stretches

// Hides some keys, and all of the second sequence. Whatever belongs to a hidden
// key is NaN or infinite.
void spoilMasked(const Case &c, const Operand &mask, int64_t keys,
                 std::initializer_list<const Operand *> ofKeys,
                 JudgedKernel &k) {
  for (int64_t row = 0; row < mask.rows; ++row) {
    bool masked = row / keys == 1 || (row % keys && k.pick(4) == 0);
    mask.number(row) = !masked;
    for (const Operand *operand : ofKeys)
      for (int64_t i = 0; masked && operand && i < operand->columns; ++i)
        operand->at(row, i) = row % 2 ? NAN : row % 3 ? INFINITY : -INFINITY;
  }
}

// Keys that no query may see, or only some queries.
void spoilHidden(const Case &c, int64_t queries, int64_t keys,
                 const Operand &key, const Operand &value) {
  for (int64_t s = 0; s < batch; ++s)
    for (int64_t j = 0; j < keys; ++j) {
      bool byAll = c.causal && !c.has("prefix") && j > c.first + queries - 1;
      if (byAll || (s == 2 && j == keys / 2)) {
        for (int64_t i = 0; i < key.columns; ++i)
          key.at(s * keys + j, i) = NAN;
        for (int64_t i = 0; i < value.columns; ++i)
          value.at(s * keys + j, i) = i % 2 ? NAN : INFINITY;
      }
    }
}

int check(const Case &c, const Target &isa, int64_t keys, Guarded::Side side,
          bool spoilt, bool narrow, bool bytes) {
  const int64_t queries = std::max<int64_t>(1, keys - c.fewerQueries);
  const bool linear = c.has("decay");
  JudgedKernel k(std::string(c.operands) + c.attributes +
                     (c.causal ? " causal" : "") + (spoilt ? " spoilt" : ""),
                 side);
  std::string line = linear ? "kernel.linear_attention %q, %k, %v"
                            : "kernel.attention %q, %k, %v";
  const int64_t rows = batch * queries, keyRows = batch * keys;
  k.rows("q", rows, c.heads * c.headDim + 3);
  Operand &key = k.rows("k", keyRows, c.kvHeads * c.headDim + 1);
  Operand &value = k.rows("v", keyRows, c.kvHeads * c.valueDim + 2);
  Operand *mask = nullptr, *keyHeads = nullptr, *content = nullptr;
  auto named = [&](const char *name) {
    line += std::string(" ") + name + " %" + name + " : {" + name + "}";
    return name;
  };
  if (c.has("key_mask")) {
    mask = &k.integers(named("key_mask"), keyRows);
    for (int64_t i = 0; i < keyRows; ++i) // any number but 0 shows the key
      mask->number(i) = i % 3 ? 1 : -2;
  }
  if (c.has("key_head_bias"))
    keyHeads = &k.rows(named("key_head_bias"), keyRows, c.heads);
  if (c.has("rotation"))
    k.rows(named("rotation"), rows, 6);
  if (c.has("query_scale"))
    k.rows(named("query_scale"), rows, 1);
  if (c.has("head_scale"))
    k.fixed(named("head_scale"), 0, c.heads);
  if (c.has("layer_scale")) {
    k.fixed("head_scale", 0, 1);
    line += " head_scale %head_scale : {head_scale}";
  }
  if (c.has("sink"))
    k.fixed(named("sink"), 0, c.heads);
  if (c.has("distances") || c.has("pairs")) {
    k.fixed("bias", c.heads,
            c.has("pairs") ? queries * keys : 2 * distance + 1);
    line += " bias %bias : {bias}";
  }
  if (c.has("content_query"))
    k.rows(named("content_query"), rows, c.heads * (2 * distance + 1));
  if (c.has("content_key"))
    content =
        &k.rows(named("content_key"), keyRows, c.heads * (2 * distance + 1));
  if (c.has("segments")) {
    Operand &segments = k.integers(named("segments"), keyRows);
    for (int64_t i = 0; i < keyRows; ++i)
      segments.number(i) = int32_t(k.pick(3));
  }
  if (c.has("prefix")) {
    Operand &prefix = k.integers(named("prefix"), batch);
    for (int64_t s = 0; s < batch; ++s)
      prefix.number(s) = int32_t(s * 3);
  }
  if (linear) {
    Operand &decay = k.fixed(named("decay"), 0, c.heads);
    for (int64_t h = 0; h < c.heads; ++h)
      decay.at(0, h) = h ? 0.3f * float(h) : 60.0f; // one that forgets at once
  }
  if (spoilt && mask)
    spoilMasked(c, *mask, keys, {&key, &value, keyHeads, content}, k);
  else if (spoilt)
    spoilHidden(c, queries, keys, key, value);
  k.out(rows, c.heads * c.valueDim);
  auto number = [](int64_t value) { return std::to_string(value); };
  k.scalar("t", queries);
  line += linear ? " tokens %t" : " queries %t keys %n first %p";
  if (!linear) {
    k.scalar("n", keys);
    k.scalar("p", c.first);
    k.mostKeys = c.inStretches ? 0 : mostKeys;
  }
  line += " outs(%out : {out}) heads " + number(c.heads) + " kv_heads " +
          number(c.kvHeads) + " head_dim " + number(c.headDim) + " value_dim " +
          number(c.valueDim) + " offsets [3, 1, 2] scale " +
          std::to_string(c.scale);
  if (!linear)
    line += std::string(" causal ") + (c.causal ? "true" : "false") +
            c.attributes + (bytes ? " byte_scores" : "");
  k.op(line + " : {q}, {k}, {v}");
  for (const char *name : {"q", "k", "v", "out"})
    if (narrow)
      k.narrow(name);
  k.byHead = narrow;
  const char *row = bytes    ? "kernel_attention_bytes"
                    : narrow ? "kernel_attention_bf16"
                             : "kernel_attention";
  return k.check(isa, toleranceOf(row).relative, queries, keys, c.heads);
}

// Which keys are seen.
const Case sight[] = {
    {" key_mask ", ""},
    {" ", "", true, 3, 1, 5, 7},
    {" ", "", true, 2, 2, 16, 16, 3, 1},  // keys that nobody sees
    {" ", "", false, 4, 2, 16, 24, 5, 0}, // of another sequence
    {" ", " window [4, 0]", true, 4, 2, 16, 8},
    {" ", " window [3, 2]"},
    {" ", " window [0, 3]"},
    {" ", " window [40, 1]", true, 2, 1, 8, 8, 2, 2},
    {" ", " chunk 5", true},
    {" key_mask ", " chunk 33"},
    {" ", " window [7, 0] chunk 12", true},
    {" key_mask ", "", true, 2, 1, 8, 44}, // values of 3, 5 and 7 vectors
    {" ", " window [9, 0]", false, 2, 2, 16, 80},
    {" key_mask ", "", false, 1, 1, 8, 100},
    {" prefix ", "", true},
    {" prefix key_mask ", " window [9, 0]", true},
    {" segments ", ""},
    {" segments key_mask ", "", true, 2, 2, 24, 17},
    {" segments ", " window [9, 0]", true, 6, 2, 16, 16},
    {" prefix key_mask ", "", true, 10, 1, 8, 8},
    {" decay ", "", true, 2, 1, 16, 16},
    {" key_mask decay ", "", true, 3, 3, 20, 9},
};

// What becomes of their scores.
const Case scores[] = {
    {" sink ", "", true, 4, 2, 16, 16},
    {" sink key_mask ", " window [6, 0]", true},
    {" query_scale ", "", true},
    {" query_scale head_scale sink ", "", true, 6, 2, 16, 16},
    {" query_scale head_scale key_mask ", " softcap 4.0"},
    {" layer_scale ", "", true, 3, 3, 20, 20},
    {" key_head_bias key_mask ", "", true, 4, 2, 16, 16},
    {" key_head_bias ", " softcap 3.0"},
    {" distances ", ""},
    {" distances key_mask ", "", true, 4, 1, 16, 32, 2, 2},
    {" distances ", " softcap 3.0", false, 3, 3, 9, 9, 4, 3},
    {" pairs ", "", false, 3, 3, 8, 8},
    {" pairs segments ", ""},
    {" content_query content_key key_mask ", "", false, 2, 2, 16, 16},
    {" content_query ", " softcap 2.0", true},
    {" rotation ", " start 10", true, 2, 1, 16, 16},
    {" rotation key_mask ", " pairing interleaved start 4", false, 2, 2, 12,
     12},
    {" key_mask ", " slopes [5.0e-01, 2.5e-01] window [5, 5]"},
};

std::string attributesOf(const Case &c) {
  std::string text = c.attributes ? c.attributes : "";
  if (c.has("distances"))
    text += " bias_by distance";
  if (c.has("pairs"))
    text += " bias_by pair";
  return text;
}

// So many keys that they are taken a stretch at a time.
int checkLong(Case c, const Target &isa, bool narrow, bool bytes) {
  constexpr int64_t longest = 1293;
  if (!c.has("rotation") && !c.has("segments") && !c.has("decay"))
    c.fewerQueries = c.first = longest - 70; // those of the end are enough
  return check(c, isa, longest, Guarded::Side::start, /*spoilt=*/true, narrow,
               bytes);
}

} // namespace

int main(int argc, char **argv) {
  const Target &isa = isaToTest(argc, argv);
  const std::string type = argc > 3 ? argv[3] : "f32";
  const bool bytes = type == "bytes", narrow = bytes || type == "bf16";
  const bool ofSight = argc <= 2 || std::string(argv[2]) == "sight";
  const bool isLong = std::string(argv[argc - 1]) == "long";
  Turns turns(argc, argv);
  int failures = 0, taken = 0;
  for (Case c : ofSight
                    ? std::vector<Case>(std::begin(sight), std::end(sight))
                    : std::vector<Case>(std::begin(scores), std::end(scores))) {
    std::string attributes = attributesOf(c);
    c.attributes = attributes.c_str();
    if (narrow && c.has("decay"))
      continue; // linear attention is of f32
    if (!turns.takesNext())
      continue;
    // Every third case with several stretches too.
    c.inStretches = isLong && taken++ % 3 == 0 && !c.has("pairs");
    for (int64_t keys : {1, 2, 9, 33, int(mostKeys)})
      for (bool spoilt : {false, true}) {
        if (c.has("pairs") && keys != 9 && keys != 33)
          continue; // a kernel for each size
        auto side = spoilt ? Guarded::Side::start : Guarded::Side::end;
        failures += check(c, isa, keys, side, spoilt, narrow, bytes);
      }
    if (c.inStretches)
      failures += checkLong(c, isa, narrow, bytes);
  }
  printf("%d failures\n", failures);
  return failures != 0;
}
