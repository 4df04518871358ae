// The description of a kernel as plain data: sizes, strides, formulas. Must use
// neither MLIR nor a generator, so that both can read it.
#pragma once
#include "dialects/transformer/BlockForm.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mille {

// A step of a scalar region: `op` applied to earlier values.
enum class ScalarOp {
  constant,
  add,
  sub,
  mul,
  div,
  neg,
  maximum,
  minimum,
  maxnum,
  minnum,
  compare,
  select,
  exp,
  exp2,
  tanh,
  erf,
  erfc,
  sqrt,
  rsqrt,
  abs,
  log,
  sin,
  cos,
  fma
};
// Comparisons are ordered, except `une`.
enum class Comparison { eq, gt, ge, lt, le, ne };
struct ScalarStep {
  ScalarOp op;
  int operands[3] = {-1, -1, -1}; // indices of values, arguments first
  double value = 0;               // of a constant
  Comparison comparison = Comparison::eq;
};
struct ScalarProgram {
  int arguments = 0;
  std::vector<ScalarStep> steps;
  int result = 0;
  bool expensive() const; // contains a function that is computed by polynomials
};

// `bf16Bits`, `f16Bits`: such a float as an integer of 16 bits, for targets
// without the type.
enum class Element { f32, bf16, u8, i8, i32, bf16Bits, f16, e4m3, f16Bits };
int64_t bytesOf(Element element);
bool isBf16(Element element);
bool isF16(Element element);

// How a buffer is read for out[m, n]; its dimensions are (column, row).
enum class Reading { element, column, row, scalar };
struct BufferSpec {
  int rank = 2;
  int64_t columns = 0, rows = -1; // rows: -1 if only a run knows the number
  int64_t rowStride = 0;          // in elements
  Reading reading = Reading::element;
  Element element = Element::f32;
};

struct MatmulSpec {
  int64_t inner = 0, columns = 0; // K, N
  int accumulators = 1;
  // Columns per panel, and the number of panels. Both are 0 if the weight lies
  // in rows: [accumulators * N, K].
  int64_t panel = 0, panels = 0;
  // The type of the rows. u8: the weight is i8, and rows have parameters. i8:
  // the weight is in blocks, and rows have parameters per block.
  BufferSpec input;
  BufferSpec parameters;
  BlockForm blocks; // false: the weight is not in blocks
  std::vector<BufferSpec> extras;
  ScalarProgram epilogue;
  int64_t experts =
      0; // entries of weights, each with rows of its own; 0: one weight
  // Likewise each with columns of its own: a kernel sees those of one head.
  int64_t heads = 0;

  int64_t entries() const { return heads ? heads : experts; }
  bool ofBytes() const { return input.element == Element::u8; }
  bool inRows() const { return panel == 0; }
  bool ofBlocks() const { return bool(blocks); }
  // Whether the operands are bf16 or bytes, which tile registers multiply.
  bool isNarrow() const { return group() > 1 && !ofBlocks(); }
  int64_t group() const {
    return 4 / bytesOf(input.element);
  } // values of K that lie side by side
  int64_t steps() const { return (inner + group() - 1) / group(); } // of K
  // Whether the epilogue is a loop over a tile in L1. Unrolled in place, one
  // with polynomials or conversions would spill accumulators.
  bool parks() const { return epilogue.expensive() || ofBytes(); }
};

enum class RowStatistic { none, layer, rms, l2 };
struct RowsSpec {
  int64_t columns = 0;
  std::vector<BufferSpec> inputs;
  std::vector<int64_t> gather; // the index of an index buffer, or -1
  int indices = 0;
  RowStatistic norm = RowStatistic::none;
  int64_t group = 0; // columns normed together
  double eps = 0;
  ScalarProgram body;
};

// The optional operands of attention, in the op's order.
enum class AttentionOperand {
  keyMask,
  keyHeadBias,
  rotation,
  queryScale,
  headScale,
  sink,
  bias,
  contentQuery,
  contentKey,
  segments,
  prefix
};
constexpr int attentionOperands = int(AttentionOperand::prefix) + 1;

// Attention and linear attention. The sixth buffer of the latter is the decay.
struct AttentionSpec {
  int64_t heads = 0, kvHeads = 0, headDim = 0, valueDim = 0;
  int64_t queryOffset = 0, keyOffset = 0, valueOffset = 0;
  BufferSpec query, key, value;
  std::optional<BufferSpec> optional[attentionOperands];
  std::optional<BufferSpec> decay; // of linear attention
  bool causal = false, interleaved = false, biasByDistance = false;
  bool byteScores = false; // may compute scores from rows rounded to bytes
  bool fewKeys = false;    // no run has more keys than mostFewKeys
  // Keys and values are a state's: a device's kernel reads how many rows it
  // holds. Panels: on a CPU they lie in these (StatePanels.h).
  bool past = false, panels = false;
  static constexpr int64_t mostFewKeys = 1024;
  int64_t start = 0; // RoPE turns dimensions start .. start + 2n - 1
  int64_t windowLeft = 0, windowRight = 0, chunk = 0; // 0: none
  double scale = 1, softcap = 0;
  std::vector<double> slopes;

  const std::optional<BufferSpec> &operator[](AttentionOperand o) const {
    return optional[int(o)];
  }
  bool has(AttentionOperand o) const { return (*this)[o].has_value(); }
  int64_t group() const { return heads / kvHeads; }
  // The number of neighbouring heads that a column of key_head_bias is for.
  int64_t headsOfKeyBias() const {
    return heads / (*this)[AttentionOperand::keyHeadBias]->columns;
  }
  // The number of neighbouring heads of a key head whose queries lie side by
  // side.
  int64_t together() const;
  int64_t angles() const { // n
    return has(AttentionOperand::rotation)
               ? (*this)[AttentionOperand::rotation]->columns / 2
               : 0;
  }
  // Whether some query sees other keys than its neighbour.
  bool hidesPairs() const {
    return causal || windowLeft || windowRight || chunk ||
           has(AttentionOperand::segments);
  }
  // Whether a query may see less than all keys of its sequence.
  bool hidesKeys() const {
    return hidesPairs() || has(AttentionOperand::keyMask);
  }
};

// Rounds rows to bytes, integers or floats; the out holds their parameters.
struct QuantizeSpec {
  BufferSpec input, values;

  bool inBlocks() const { return values.element == Element::i8; } // of 32
};

// RoPE of rows, not fused into attention.
struct RotateSpec {
  int64_t heads = 0, headDim = 0, start = 0;
  bool interleaved = false;
  BufferSpec input, rotation;
};

// Dispatch and combine, which read rows by index. A row has k slots.
struct SlotsSpec {
  int64_t columns = 0, k = 0;
  bool combines = false;
  BufferSpec input;
  std::optional<BufferSpec> weights;
};

// Rows that a kernel computes from the out of its op, or of joined rows before,
// while they are in registers.
struct JoinedRows {
  RowsSpec rows; // without gathers
  BufferSpec out;
  bool written = true;
  // Of each input the op of the kernel whose out it is, 0 being its first, or
  // -1: a buffer.
  std::vector<int> sources;
};

// The kernels of a training step.
struct WeightGradientSpec {
  BufferSpec gradient, input;
};
struct ColumnSumsSpec {
  std::vector<BufferSpec> inputs; // the first has all columns
  ScalarProgram body;
};
struct EmbedGradientSpec {
  BufferSpec gradient;
};
// The out is the last of the op's outs: with a normed row, that.
struct NormBackwardSpec {
  BufferSpec gradient, input;
  std::optional<BufferSpec> weight;
  std::optional<BufferSpec> inputGradient; // of an op with two outs
  RowStatistic norm = RowStatistic::layer;
  int64_t group = 0; // columns normed together
  double eps = 0;
};
struct CrossEntropySpec {
  BufferSpec logits, losses;
  double smoothing = 0;
};
// The out is [panels, steps, panel * group], of bf16 where `group` values of K
// lie side by side; the spec's out describes its rows.
struct PackSpec {
  BufferSpec weight;
  bool transposed = false;
  int64_t panel = 0, steps = 0, panels = 0, group = 1;

  int64_t inner() const { return transposed ? weight.rows : weight.columns; }
  // Whether tasks are ranges of steps: each has `group` rows of the weight, or
  // columns.
  bool bySteps() const { return inner() % group == 0; }
};
// The out is the query's gradient.
struct AttentionBackwardSpec {
  AttentionSpec forward; // its operands and attributes
  BufferSpec gradient, keyGradient, valueGradient;
  bool shortRuns = false; // no run has more keys than mostOfShort
  static constexpr int64_t mostOfShort = 32;
};

enum class KernelKind {
  matmul,
  rows,
  quantize,
  attention,
  rotate,
  slots,
  weightGradient,
  columnSums,
  embedGradient,
  normBackward,
  crossEntropy,
  pack,
  attentionBackward
};
// Whether only a training step has such kernels.
bool isOfTraining(KernelKind kind);

struct KernelSpec {
  KernelKind kind = KernelKind::matmul;
  MatmulSpec matmul;
  RowsSpec rows;
  QuantizeSpec quantize;
  AttentionSpec attention;
  RotateSpec rotate;
  SlotsSpec slots;
  WeightGradientSpec weightGradient;
  ColumnSumsSpec columnSums;
  EmbedGradientSpec embedGradient;
  NormBackwardSpec normBackward;
  CrossEntropySpec crossEntropy;
  PackSpec pack;
  AttentionBackwardSpec attentionBackward;
  BufferSpec out;
  // Buffers are those of the op but for its out, then those of the joined rows,
  // then the outs that are written.
  bool written = true; // the op's own out
  std::vector<JoinedRows> joined;
  // Of column sums: the out's number that each column is added to; empty: in
  // turn.
  std::vector<int64_t> to;
  // Further outs of attention's backward pass, before the last.
  std::optional<BufferSpec> keyBiasGradient, biasGradient, sinkGradient;

  // Those that are written.
  std::vector<BufferSpec> outs() const;
};

// The spec as text, with everything that a kernel depends on. Equal specs give
// equal texts in every process.
std::string canonicalText(const KernelSpec &spec);

} // namespace mille
