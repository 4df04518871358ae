// Writes a kernel spec as canonical text. Must not depend on pointers, locale
// or anything else outside the spec.
#include "compiler/kernels/Spec.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

using namespace mille;

int64_t mille::bytesOf(Element element) {
  switch (element) {
  case Element::f32:
  case Element::i32:
    return 4;
  case Element::bf16:
  case Element::bf16Bits:
  case Element::f16:
  case Element::f16Bits:
    return 2;
  case Element::u8:
  case Element::i8:
  case Element::e4m3:
    return 1;
  }
  return 0;
}

bool mille::isBf16(Element element) {
  return element == Element::bf16 || element == Element::bf16Bits;
}

bool mille::isF16(Element element) {
  return element == Element::f16 || element == Element::f16Bits;
}

bool ScalarProgram::expensive() const {
  for (const ScalarStep &step : steps)
    switch (step.op) {
    case ScalarOp::exp:
    case ScalarOp::exp2:
    case ScalarOp::tanh:
    case ScalarOp::erf:
    case ScalarOp::erfc:
    case ScalarOp::log:
    case ScalarOp::sin:
    case ScalarOp::cos:
    case ScalarOp::sqrt:
    case ScalarOp::rsqrt:
      return true;
    default:
      break;
    }
  return false;
}

int64_t AttentionSpec::together() const {
  using Operand = AttentionOperand;
  // A decay, slopes and these operands differ by query head, so no heads share.
  if (decay || !slopes.empty())
    return 1;
  for (Operand byHead : {Operand::keyHeadBias, Operand::bias,
                         Operand::contentQuery, Operand::contentKey})
    if (has(byHead))
      return 1;
  if (kvHeads > 1)
    return group();
  // With a single key head, tasks get some of its heads, as many as few queries
  // take at once.
  int64_t most = std::min<int64_t>(heads, 16);
  while (heads % most)
    --most;
  return most;
}

namespace {

struct Text {
  std::string text;
  Text &word(const char *name) {
    text += name;
    text += ' ';
    return *this;
  }
  Text &number(int64_t value) {
    text += std::to_string(value) + ' ';
    return *this;
  }
  // A hexadecimal float is exact and does not depend on the locale.
  Text &real(double value) {
    char digits[40];
    snprintf(digits, sizeof digits, "%a ", value);
    text += digits;
    return *this;
  }
  Text &buffer(const BufferSpec &b) {
    return number(b.rank)
        .number(b.columns)
        .number(b.rows)
        .number(b.rowStride)
        .number(int(b.reading))
        .number(int(b.element))
        .word(";");
  }
  Text &optional(const std::optional<BufferSpec> &b) {
    return b ? buffer(*b) : word("none");
  }
  Text &program(const ScalarProgram &p) {
    word("program").number(p.arguments);
    for (const ScalarStep &s : p.steps) {
      number(int(s.op)).number(s.operands[0]).number(s.operands[1]);
      number(s.operands[2]).real(s.value).number(int(s.comparison)).word(";");
    }
    return word("yield").number(p.result);
  }
};

void write(Text &t, const MatmulSpec &m) {
  t.word("matmul").number(m.inner).number(m.columns).number(m.accumulators);
  t.number(m.panel).number(m.panels).buffer(m.input).buffer(m.parameters);
  for (const BufferSpec &extra : m.extras)
    t.buffer(extra);
  if (m.experts)
    t.word("of experts").number(m.experts);
  if (m.heads)
    t.word("by head");
  if (m.ofBlocks())
    t.word("of blocks").word(m.blocks.name);
  t.program(m.epilogue);
}

void write(Text &t, const RowsSpec &r) {
  t.word("rows").number(r.columns);
  for (const BufferSpec &input : r.inputs)
    t.buffer(input);
  t.word("gather").number(r.indices);
  for (int64_t index : r.gather)
    t.number(index);
  t.word("norm").number(int(r.norm)).number(r.group).real(r.eps);
  t.program(r.body);
}

void write(Text &t, const QuantizeSpec &q) {
  t.word("quantize").buffer(q.input).buffer(q.values);
}

void write(Text &t, const AttentionSpec &a) {
  t.word("attention").number(a.heads).number(a.kvHeads).number(a.headDim);
  t.number(a.valueDim).number(a.queryOffset).number(a.keyOffset);
  t.number(a.valueOffset).buffer(a.query).buffer(a.key).buffer(a.value);
  for (const std::optional<BufferSpec> &operand : a.optional)
    t.optional(operand);
  if (a.has(AttentionOperand::segments))
    t.word("by position");
  t.word("decay").optional(a.decay);
  t.number(a.causal)
      .number(a.interleaved)
      .number(a.biasByDistance)
      .number(a.byteScores);
  if (a.fewKeys)
    t.word("few keys");
  if (a.past)
    t.word("past");
  if (a.panels)
    t.word("panels");
  t.number(a.start).number(a.windowLeft).number(a.windowRight).number(a.chunk);
  t.real(a.scale).real(a.softcap).word("slopes");
  for (double slope : a.slopes)
    t.real(slope);
}

void write(Text &t, const RotateSpec &r) {
  t.word("rotate").number(r.heads).number(r.headDim).number(r.start);
  t.number(r.interleaved).buffer(r.input).buffer(r.rotation);
}

void write(Text &t, const SlotsSpec &s) {
  t.word(s.combines ? "combine" : "dispatch").number(s.columns).number(s.k);
  t.buffer(s.input).optional(s.weights);
}

void write(Text &t, const JoinedRows &joined) {
  t.word("joined");
  write(t, joined.rows);
  for (int source : joined.sources)
    t.number(source);
  t.number(joined.written).buffer(joined.out);
}

void write(Text &t, const WeightGradientSpec &g) {
  t.word("weight_gradient").buffer(g.gradient).buffer(g.input);
}

void write(Text &t, const ColumnSumsSpec &c) {
  t.word("column_sums");
  for (const BufferSpec &input : c.inputs)
    t.buffer(input);
  t.program(c.body);
}

void write(Text &t, const EmbedGradientSpec &e) {
  t.word("embed_gradient").buffer(e.gradient);
}

void write(Text &t, const NormBackwardSpec &n) {
  t.word("norm_backward").buffer(n.gradient).buffer(n.input);
  t.optional(n.weight).optional(n.inputGradient);
  t.number(int(n.norm)).number(n.group).real(n.eps);
}

void write(Text &t, const CrossEntropySpec &c) {
  t.word("cross_entropy").buffer(c.logits).buffer(c.losses).real(c.smoothing);
}

void write(Text &t, const PackSpec &p) {
  t.word("pack").buffer(p.weight).number(p.transposed);
  t.number(p.panel).number(p.steps).number(p.panels);
}

void write(Text &t, const AttentionBackwardSpec &a) {
  t.word("backward of");
  write(t, a.forward);
  t.buffer(a.gradient).buffer(a.keyGradient).buffer(a.valueGradient);
  if (a.shortRuns)
    t.word("short runs");
}

} // namespace

std::vector<BufferSpec> KernelSpec::outs() const {
  std::vector<BufferSpec> outs;
  if (written)
    outs.push_back(out);
  for (const JoinedRows &rows : joined)
    if (rows.written)
      outs.push_back(rows.out);
  return outs;
}

bool mille::isOfTraining(KernelKind kind) {
  return kind >= KernelKind::weightGradient;
}

std::string mille::canonicalText(const KernelSpec &spec) {
  Text t;
  switch (spec.kind) {
  case KernelKind::matmul:
    write(t, spec.matmul);
    break;
  case KernelKind::rows:
    write(t, spec.rows);
    break;
  case KernelKind::quantize:
    write(t, spec.quantize);
    break;
  case KernelKind::attention:
    write(t, spec.attention);
    break;
  case KernelKind::rotate:
    write(t, spec.rotate);
    break;
  case KernelKind::slots:
    write(t, spec.slots);
    break;
  case KernelKind::weightGradient:
    write(t, spec.weightGradient);
    break;
  case KernelKind::columnSums:
    write(t, spec.columnSums);
    for (int64_t number : spec.to)
      t.number(number);
    break;
  case KernelKind::embedGradient:
    write(t, spec.embedGradient);
    break;
  case KernelKind::normBackward:
    write(t, spec.normBackward);
    break;
  case KernelKind::crossEntropy:
    write(t, spec.crossEntropy);
    break;
  case KernelKind::pack:
    write(t, spec.pack);
    break;
  case KernelKind::attentionBackward:
    write(t, spec.attentionBackward);
    for (const auto &gradient :
         {spec.keyBiasGradient, spec.biasGradient, spec.sinkGradient})
      t.optional(gradient);
    break;
  }
  t.word("out").buffer(spec.out);
  if (!spec.joined.empty())
    t.number(spec.written);
  for (const JoinedRows &rows : spec.joined)
    write(t, rows);
  return std::move(t.text);
}
