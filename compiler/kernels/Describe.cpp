// Derives from a spec what the host must know: buffers, how tasks are cut, and
// the work. Must not know tiles: a generator adds what they need.
#include "compiler/kernels/Describe.h"

#include "runtime/abi.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace mille;

namespace {

void describe(const MatmulSpec &m, KernelInfo &info) {
  info.bufferCount = buffersBeforeExtras(m) + m.extras.size() + 1;
  info.columnUnit = m.inRows() ? m.columns : m.panel / m.accumulators;
  info.narrow = m.isNarrow();
  info.flopsPerRow = 2 * m.inner * m.columns * m.accumulators;
  info.bytesWeights =
      bytesOf(m.input.element) * m.inner *
      (m.inRows() ? m.columns * m.accumulators : m.panels * m.panel);
  info.rowDimension = {1, -1};
  if (m.ofBlocks()) { // an operand with parameters of rows
    info.rowDimension.push_back(1);
    info.bytesWeights = m.panels * (m.inner / m.blocks.numbers()) *
                        m.blocks.bytes(m.accumulators);
  }
  if (m.ofBytes()) { // parameters of rows, and sums of the weight's rows
    info.rowDimension.insert(info.rowDimension.end(), {1, -1});
    info.bytesWeights +=
        4 * (m.inRows() ? m.columns * m.accumulators : m.panels * m.panel);
  }
  for (const BufferSpec &extra : m.extras) {
    bool byRow =
        extra.reading == Reading::element || extra.reading == Reading::row;
    info.rowDimension.push_back(byRow ? 1 : -1);
    if (extra.reading == Reading::column)
      info.bytesWeights += 4 * m.columns;
  }
}

void describe(const RowsSpec &r, KernelInfo &info) {
  info.bufferCount = r.inputs.size() + r.indices + 1;
  info.columnUnit = r.columns; // a row is little work, so tasks get whole rows
  uint64_t perElement = r.body.steps.size();
  switch (r.norm) {
  case RowStatistic::none:
    break;
  case RowStatistic::layer:
    perElement += 6;
    break;
  case RowStatistic::rms:
  case RowStatistic::l2:
    perElement += 3;
    break;
  }
  info.flopsPerRow = perElement * r.columns;
  for (auto [i, input] : llvm::enumerate(r.inputs)) {
    bool byRow =
        input.reading == Reading::element || input.reading == Reading::row;
    info.rowDimension.push_back(r.gather[i] < 0 && byRow ? 1 : -1);
  }
  info.rowDimension.insert(info.rowDimension.end(), r.indices, 0);
}

void describe(const QuantizeSpec &q, KernelInfo &info) {
  info.bufferCount = 3;
  info.columnUnit = q.inBlocks()
                        ? inputParameters * q.input.columns / inputBlock
                        : 4; // parameters
  info.flopsPerRow = 7 * q.input.columns;
  info.rowDimension = {1, 1};
}

// The row dimension of an operand that may be absent.
int8_t rowDimensionOf(AttentionOperand operand) {
  switch (operand) {
  case AttentionOperand::headScale:
  case AttentionOperand::sink:
  case AttentionOperand::bias:
    return -1;
  case AttentionOperand::keyMask:
  case AttentionOperand::segments:
  case AttentionOperand::prefix: // a row per sequence
    return 0;
  default:
    return 1;
  }
}

void describe(const AttentionSpec &a, KernelInfo &info) {
  info.partition = MILLE_PARTITION_SEQUENCES;
  info.rowDimension = {1, 1, 1}; // query, key, value
  for (int i = 0; i < attentionOperands; ++i)
    if (a.optional[i])
      info.rowDimension.push_back(rowDimensionOf(AttentionOperand(i)));
  if (a.decay)
    info.rowDimension.push_back(-1);
  info.bufferCount = info.rowDimension.size() + 1;
  info.scalarCount = a.decay ? 1 : 3;
  // Heads that share rotated keys or vectors stay in one task.
  info.columnUnit = a.kvHeads > 1 ? a.group() : a.together();
  info.panels = a.panels;
  info.flopsPerRow = 2 * a.heads * (a.headDim + a.valueDim);
}

void describe(const RotateSpec &r, KernelInfo &info) {
  info.bufferCount = 3;
  info.columnUnit = r.heads * r.headDim;
  info.flopsPerRow = 3 * r.heads * r.rotation.columns;
  info.rowDimension = {1, 1};
}

// Index numbers refer to rows of the whole run, so a task gets all of them.
void describe(const SlotsSpec &s, KernelInfo &info) {
  info.bufferCount = 3 + !s.combines + s.weights.has_value();
  info.columnUnit = 64;
  info.rowUnit = 1u << 30;
  info.flopsPerRow = (s.combines ? 2 * s.k : 1) * s.columns;
  info.rowDimension.assign(info.bufferCount - 1, -1);
}

void describeJoined(const KernelSpec &spec, KernelInfo &info) {
  for (const JoinedRows &joined : spec.joined) {
    KernelInfo own;
    describe(joined.rows, own);
    info.flopsPerRow += own.flopsPerRow;
    for (auto [source, dimension] : llvm::zip(joined.sources, own.rowDimension))
      if (source < 0) {
        info.rowDimension.push_back(dimension);
        ++info.bufferCount;
      }
  }
  const size_t outs = spec.outs().size();
  info.rowDimension.insert(info.rowDimension.end(), outs - 1, 1);
  info.bufferCount += outs - 1;
}

// Sums over all rows, whose number only a run knows: a nominal one balances
// tasks.
constexpr int64_t nominalRows = 512;

// Tasks are tiles of the out, whose rows are columns of the gradient.
void describe(const WeightGradientSpec &g, KernelInfo &info) {
  info.bufferCount = 3;
  info.columnUnit = 64;
  info.flopsPerRow = 2 * nominalRows * g.input.columns;
  info.rowDimension = {0, -1};
}

// Tasks are ranges of columns, which are the only dimension of the out. Columns
// that share a number of the out are one task.
void describeSums(const KernelSpec &spec, KernelInfo &info) {
  const ColumnSumsSpec &c = spec.columnSums;
  const int64_t columns = c.inputs[0].columns;
  const bool whole = !spec.to.empty() || spec.out.columns != columns;
  info.bufferCount = c.inputs.size() + 1;
  info.flopsPerRow = nominalRows * (1 + c.body.steps.size()) *
                     (whole ? columns / spec.out.columns + 1 : 1);
  info.rowUnit = whole ? 1u << 30 : 64;
  if (spec.out.rank == 2)
    info.columnUnit = spec.out.columns;
  for (const BufferSpec &input : c.inputs)
    info.rowDimension.push_back(!whole && (input.reading == Reading::element ||
                                           input.reading == Reading::column)
                                    ? 0
                                    : -1);
}

// Ids refer to rows of the whole table, so a task gets some columns of all.
void describe(const EmbedGradientSpec &e, KernelInfo &info) {
  info.bufferCount = 3;
  info.columnUnit = 64;
  info.rowUnit = 1u << 30;
  info.flopsPerRow = e.gradient.columns;
  info.rowDimension = {-1, -1};
}

void describe(const NormBackwardSpec &n, KernelInfo &info) {
  info.columnUnit = n.input.columns;
  info.flopsPerRow = 16 * n.input.columns;
  info.rowDimension = {1, 1};
  if (n.weight)
    info.rowDimension.push_back(-1);
  if (n.inputGradient)
    info.rowDimension.push_back(1);
  info.bufferCount = info.rowDimension.size() + 1;
}

void describe(const CrossEntropySpec &c, KernelInfo &info) {
  info.bufferCount = 5;
  info.columnUnit = c.logits.columns;
  info.flopsPerRow = 16 * c.logits.columns;
  info.rowDimension = {1, 0, -1, 1}; // logits, labels, times, losses
}

// Tasks are ranges of steps of all panels. Where the last step has fewer rows
// of the weight than others, they are columns of all panels, and read all of
// it. A number that is packed counts as 8 operations, since memory is what it
// waits for: so threads share a small weight too.
void describe(const PackSpec &p, KernelInfo &info) {
  info.bufferCount = 2;
  info.flopsPerRow = 8 * p.panel * p.panels * p.group;
  info.columnUnit = p.bySteps() ? p.panel * p.group : 16 * p.group;
  info.rowUnit = p.bySteps() ? 16 : 1u << 30;
  info.rowDimension.push_back(!p.bySteps() ? -1 : p.transposed ? 1 : 0);
}

// The task that computes some query heads writes the gradients of their key
// heads, so it has all queries.
void describeBackward(const KernelSpec &spec, KernelInfo &info) {
  const AttentionSpec &f = spec.attentionBackward.forward;
  info.partition = MILLE_PARTITION_SEQUENCES;
  info.rowDimension = {1, 1, 1, 1}; // query, key, value, gradient
  for (int i = 0; i < attentionOperands; ++i)
    if (f.optional[i])
      info.rowDimension.push_back(rowDimensionOf(AttentionOperand(i)));
  const size_t outs = 2 + spec.keyBiasGradient.has_value() +
                      spec.biasGradient.has_value() +
                      spec.sinkGradient.has_value();
  info.rowDimension.insert(info.rowDimension.end(), outs, 1);
  info.bufferCount = info.rowDimension.size() + 1;
  info.scalarCount = 2;
  info.columnUnit = f.group();
  if (spec.keyBiasGradient) // a task has all heads that share a number
    info.columnUnit = std::lcm(info.columnUnit, f.headsOfKeyBias());
  info.rowUnit = 1u << 30;
  info.flopsPerRow = 2 * f.heads * (3 * f.headDim + 2 * f.valueDim);
}

} // namespace

static int8_t rowDimensionOfOut(KernelKind kind) {
  const bool byNumber =
      kind == KernelKind::slots || kind == KernelKind::embedGradient;
  return byNumber ? -1 : kind == KernelKind::columnSums ? 0 : 1;
}

KernelInfo mille::describeSpec(const KernelSpec &spec) {
  KernelInfo info;
  info.partition = MILLE_PARTITION_ROWS;
  switch (spec.kind) {
  case KernelKind::matmul:
    describe(spec.matmul, info);
    break;
  case KernelKind::rows:
    describe(spec.rows, info);
    break;
  case KernelKind::quantize:
    describe(spec.quantize, info);
    break;
  case KernelKind::attention:
    describe(spec.attention, info);
    break;
  case KernelKind::rotate:
    describe(spec.rotate, info);
    break;
  case KernelKind::slots:
    describe(spec.slots, info);
    break;
  case KernelKind::weightGradient:
    describe(spec.weightGradient, info);
    break;
  case KernelKind::columnSums:
    describeSums(spec, info);
    break;
  case KernelKind::embedGradient:
    describe(spec.embedGradient, info);
    break;
  case KernelKind::normBackward:
    describe(spec.normBackward, info);
    break;
  case KernelKind::crossEntropy:
    describe(spec.crossEntropy, info);
    break;
  case KernelKind::pack:
    describe(spec.pack, info);
    break;
  case KernelKind::attentionBackward:
    describeBackward(spec, info);
    break;
  }
  describeJoined(spec, info);
  info.rowDimension.push_back(spec.kind == KernelKind::columnSums &&
                                      spec.out.rank == 2
                                  ? 1
                                  : rowDimensionOfOut(spec.kind));
  return info;
}
