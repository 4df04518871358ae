// What attention computes, in double. Must not know kernels.
#include "compiler/driver/emulate/ExpectedAttention.h"
#include "compiler/interpret/AttendHead.h"
#include "compiler/interpret/Numbers.h"
#include "dialects/kernel/Kernel.h"

#include <cmath>

using namespace mille;
using namespace mille::emulated;
using namespace mille::interpreter;

int64_t mille::emulated::keysOf(const AttentionSpec &a, const Sizes &sizes,
                                int64_t s) {
  if (!a.past)
    return sizes.keys;
  return std::min(sizes.held(s) + (a.causal ? sizes.queries() : 0), sizes.keys);
}
// The position of a sequence's first query.
static int64_t firstOf(const AttentionSpec &a, const Sizes &sizes, int64_t s) {
  return !a.past ? sizes.first : a.causal ? sizes.held(s) : 0;
}

namespace {
// One run of attention: what a head needs.
class AttentionInDouble {
public:
  AttentionInDouble(mlir::Operation *op, const AttentionSpec &a,
                    const Sizes &sizes, const std::vector<Operand> &operands)
      : a(a), sizes(sizes), operands(operands),
        sight(a.causal, llvm::cast<kernel::AttentionOp>(op).getWindow(),
              a.chunk) {
    size_t next = 3;
    for (int i = 0; i < attentionOperands; ++i)
      optional[i] = a.optional[i] ? &operands[next++] : nullptr;
  }

  // The out, or of each of its numbers what the magnitudes of the values weigh
  // together.
  std::vector<double> compute(bool magnitudes) const;

private:
  const Operand *find(AttentionOperand which) const {
    return optional[int(which)];
  }
  std::vector<double> heads(const Operand &from, int64_t offset, int64_t count,
                            int64_t width) const;
  bool sees(int64_t s, int64_t i, int64_t j) const;
  double added(int64_t s, int64_t h, int64_t i, int64_t j) const;

  const AttentionSpec &a;
  const Sizes &sizes;
  const std::vector<Operand> &operands;
  const Operand *optional[attentionOperands];
  Sight sight;
};
} // namespace

std::vector<double> AttentionInDouble::heads(const Operand &from,
                                             int64_t offset, int64_t count,
                                             int64_t width) const {
  std::vector<double> taken;
  for (int64_t row = 0; row < from.rows; ++row)
    for (int64_t c = 0; c < count * width; ++c)
      taken.push_back(from.at(row, offset + c));
  if (const Operand *rotation = find(AttentionOperand::rotation);
      rotation && &from != &operands[2]) {
    turnHeads({rotation->spec.columns / 2, rotation->numbers}, taken.data(),
              from.rows, count, width, a.start, !a.interleaved);
    // As it does where a kernel before has turned them.
    for (double &number : taken)
      number = roundedTo(number, from.spec.element);
  }
  return taken;
}

bool AttentionInDouble::sees(int64_t s, int64_t i, int64_t j) const {
  const int64_t key = s * sizes.keys + j;
  const Operand *mask = find(AttentionOperand::keyMask);
  const Operand *segments = find(AttentionOperand::segments);
  const Operand *prefix = find(AttentionOperand::prefix);
  if ((mask && mask->numbers[key] == 0) || j >= keysOf(a, sizes, s))
    return false;
  if (!sight.shows(firstOf(a, sizes, s) + i, j,
                   prefix ? int64_t(prefix->numbers[s]) : 0))
    return false;
  return !segments ||
         segments->numbers[s * sizes.queries() + i] == segments->numbers[key];
}

double AttentionInDouble::added(int64_t s, int64_t h, int64_t i,
                                int64_t j) const {
  const int64_t query = s * sizes.queries() + i, key = s * sizes.keys + j;
  const int64_t far = j - firstOf(a, sizes, s) - i;
  auto byDistance = [&](const double *numbers, int64_t columns) {
    const int64_t most = columns / 2;
    return numbers[std::clamp(far, -most, most) + most];
  };
  double sum = 0;
  if (const Operand *bias = find(AttentionOperand::keyHeadBias))
    sum += bias->at(key, h / a.headsOfKeyBias());
  if (!a.slopes.empty())
    sum += a.slopes[h] * double(far);
  if (const Operand *bias = find(AttentionOperand::bias))
    sum += a.biasByDistance
               ? byDistance(&bias->numbers[h * bias->spec.columns],
                            bias->spec.columns)
               : bias->numbers[(h * sizes.queries() + i) * sizes.keys + j];
  for (auto [which, row] : {std::pair{AttentionOperand::contentQuery, query},
                            std::pair{AttentionOperand::contentKey, key}})
    if (const Operand *content = find(which)) {
      const int64_t columns = content->spec.columns / a.heads;
      sum +=
          byDistance(&content->numbers[(row * a.heads + h) * columns], columns);
    }
  return sum;
}

std::vector<double> AttentionInDouble::compute(bool magnitudes) const {
  std::vector<double> query =
      heads(operands[0], a.queryOffset, a.heads, a.headDim);
  std::vector<double> key =
      heads(operands[1], a.keyOffset, a.kvHeads, a.headDim);
  std::vector<double> value =
      heads(operands[2], a.valueOffset, a.kvHeads, a.valueDim);
  for (double &number : value)
    number = magnitudes ? std::fabs(number) : number;
  const int64_t columns = a.heads * a.valueDim;
  std::vector<double> out(sizes.rows * columns);
  const Operand *ofQuery = find(AttentionOperand::queryScale),
                *ofHead = find(AttentionOperand::headScale),
                *sink = find(AttentionOperand::sink);
  for (int64_t s = 0; s < sizes.sequences; ++s)
    for (int64_t h = 0; h < a.heads; ++h) {
      const int64_t shared = h / a.group();
      Head head{};
      head.queries = sizes.queries();
      head.keys = sizes.keys;
      head.headDim = a.headDim;
      head.valueDim = a.valueDim;
      head.queryStride = a.heads * a.headDim;
      head.keyStride = a.kvHeads * a.headDim;
      head.valueStride = a.kvHeads * a.valueDim;
      head.outStride = columns;
      head.query = &query[s * head.queries * head.queryStride + h * a.headDim];
      head.key = &key[s * head.keys * head.keyStride + shared * a.headDim];
      head.value =
          &value[s * head.keys * head.valueStride + shared * a.valueDim];
      head.out = &out[s * head.queries * columns + h * a.valueDim];
      head.scale = a.scale;
      head.softcap = a.softcap;
      head.sink = sink ? &sink->numbers[h] : nullptr;
      auto seesHere = [&](int64_t i, int64_t j) { return sees(s, i, j); };
      auto addedHere = [&](int64_t i, int64_t j) { return added(s, h, i, j); };
      auto factor = [&](int64_t i) {
        return (ofHead ? ofHead->numbers[h % ofHead->numbers.size()] : 1) *
               (ofQuery ? ofQuery->numbers[s * sizes.queries() + i] : 1);
      };
      head.sees = seesHere;
      head.bias = addedHere;
      head.factor = factor;
      attendHead(head);
    }
  return out;
}

void mille::emulated::computeAttention(mlir::Operation *op,
                                       const AttentionSpec &a,
                                       const Sizes &sizes,
                                       std::vector<Operand> &operands) {
  const AttentionInDouble attention(op, a, sizes, operands);
  Operand &out = operands.back();
  out.numbers = attention.compute(false);
  if (bytesOf(a.query.element) == 2)
    out.weighed = attention.compute(true);
}
