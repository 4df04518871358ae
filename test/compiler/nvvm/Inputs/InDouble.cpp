// The formulas of KernelOps.td, one number after the other.
#include "test/compiler/nvvm/Inputs/InDouble.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mille;
using namespace mille::test;

namespace {

using Operand = AttentionOperand;

class Attention {
public:
  Attention(const KernelSpec &spec, const Sizes &sizes,
            const std::vector<Numbers> &buffers)
      : spec(spec), s(spec.attention), z(sizes), buffers(buffers) {
    size_t next = 3;
    for (int i = 0; i < attentionOperands; ++i)
      at[i] = s.optional[i] ? next++ : 0;
  }
  Numbers run();

private:
  double number(Operand operand, int64_t row, int64_t column) const {
    const BufferSpec &of = *s[operand];
    const int64_t stride = of.rank == 1 ? of.columns : of.rowStride;
    return buffers[at[int(operand)]][row * stride + column];
  }
  // A dimension of a head, turned by its row's angle.
  double turned(size_t buffer, const BufferSpec &of, int64_t row,
                int64_t column, int64_t d) const;
  bool sees(int64_t sequence, int64_t query, int64_t key) const;
  double score(int64_t sequence, int64_t head, int64_t query,
               int64_t key) const;
  void row(int64_t sequence, int64_t head, int64_t query, Numbers &out) const;

  const KernelSpec &spec;
  const AttentionSpec &s;
  const Sizes &z;
  const std::vector<Numbers> &buffers;
  size_t at[attentionOperands];
};

double Attention::turned(size_t buffer, const BufferSpec &of, int64_t row,
                         int64_t column, int64_t d) const {
  auto element = [&](int64_t i) {
    return buffers[buffer][row * of.rowStride + column + i];
  };
  const int64_t n = s.angles(), i = d - s.start;
  if (i < 0 || i >= 2 * n)
    return element(d);
  const int64_t angle = s.interleaved ? i / 2 : i % n;
  const bool second = s.interleaved ? i % 2 : i >= n;
  const int64_t apart = s.interleaved ? 1 : n;
  const double x = element(second ? d - apart : d),
               y = element(second ? d : d + apart);
  const double cosine = number(Operand::rotation, row, angle),
               sine = number(Operand::rotation, row, n + angle);
  return second ? y * cosine + x * sine : x * cosine - y * sine;
}

bool Attention::sees(int64_t sequence, int64_t query, int64_t key) const {
  const int64_t position = z.first + query, row = sequence * z.keys + key;
  if (s.has(Operand::keyMask) && number(Operand::keyMask, row, 0) == 0)
    return false;
  int64_t last = s.causal ? position : z.keys - 1;
  if (s.causal && s.has(Operand::prefix))
    last = std::max(last, int64_t(number(Operand::prefix, sequence, 0)) - 1);
  if (key > last)
    return false;
  if (s.windowLeft && key <= position - s.windowLeft)
    return false;
  if (s.windowRight && key >= position + s.windowRight)
    return false;
  if (s.chunk && key / s.chunk != position / s.chunk)
    return false;
  return !s.has(Operand::segments) ||
         number(Operand::segments, row, 0) ==
             number(Operand::segments, sequence * z.keys + position, 0);
}

double Attention::score(int64_t sequence, int64_t head, int64_t query,
                        int64_t key) const {
  const int64_t queryRow = sequence * z.queries + query,
                keyRow = sequence * z.keys + key,
                distance = key - (z.first + query);
  double sum = 0;
  for (int64_t d = 0; d < s.headDim; ++d)
    sum +=
        turned(0, s.query, queryRow, s.queryOffset + head * s.headDim, d) *
        turned(1, s.key, keyRow, s.keyOffset + head / s.group() * s.headDim, d);
  sum *= s.scale;
  if (s.has(Operand::headScale))
    sum *= number(Operand::headScale, 0,
                  s[Operand::headScale]->columns == 1 ? 0 : head);
  if (s.has(Operand::queryScale))
    sum *= number(Operand::queryScale, queryRow, 0);
  if (s.softcap > 0)
    sum = s.softcap * std::tanh(sum / s.softcap);
  if (!s.slopes.empty())
    sum += s.slopes[head] * distance;
  if (s.has(Operand::keyHeadBias))
    sum += number(Operand::keyHeadBias, keyRow, head / s.headsOfKeyBias());
  if (s.has(Operand::bias) && s.biasByDistance) {
    const int64_t most = s[Operand::bias]->columns / 2;
    sum +=
        number(Operand::bias, head, std::clamp(distance, -most, most) + most);
  } else if (s.has(Operand::bias)) {
    sum += number(Operand::bias, head, query * z.keys + key);
  }
  return sum;
}

void Attention::row(int64_t sequence, int64_t head, int64_t query,
                    Numbers &out) const {
  Numbers scores(z.keys, -std::numeric_limits<double>::infinity());
  double top = s.has(Operand::sink) ? number(Operand::sink, 0, head)
                                    : -std::numeric_limits<double>::infinity();
  for (int64_t key = 0; key < z.keys; ++key)
    if (sees(sequence, query, key))
      top = std::max(top, scores[key] = score(sequence, head, query, key));
  double sum =
      s.has(Operand::sink) ? std::exp(number(Operand::sink, 0, head) - top) : 0;
  double *to = &out[(sequence * z.queries + query) * spec.out.rowStride +
                    head * s.valueDim];
  for (int64_t key = 0; key < z.keys; ++key) {
    if (!sees(sequence, query, key))
      continue;
    const double weight = std::exp(scores[key] - top);
    sum += weight;
    const double *value =
        &buffers[2][(sequence * z.keys + key) * s.value.rowStride +
                    s.valueOffset + head / s.group() * s.valueDim];
    for (int64_t d = 0; d < s.valueDim; ++d)
      to[d] += weight * value[d];
  }
  for (int64_t d = 0; d < s.valueDim && sum > 0; ++d)
    to[d] /= sum;
}

Numbers Attention::run() {
  Numbers out(z.sequences * z.queries * spec.out.rowStride);
  for (int64_t sequence = 0; sequence < z.sequences; ++sequence)
    for (int64_t head = 0; head < s.heads; ++head)
      for (int64_t query = 0; query < z.queries; ++query)
        row(sequence, head, query, out);
  return out;
}

// The value of a region that has no function but those of the tests.
double valueOf(const ScalarProgram &program, Numbers values) {
  for (const ScalarStep &step : program.steps) {
    auto operand = [&](int i) { return values[step.operands[i]]; };
    switch (step.op) {
    case ScalarOp::constant:
      values.push_back(step.value);
      break;
    case ScalarOp::add:
      values.push_back(operand(0) + operand(1));
      break;
    case ScalarOp::mul:
      values.push_back(operand(0) * operand(1));
      break;
    case ScalarOp::tanh:
      values.push_back(std::tanh(operand(0)));
      break;
    default:
      std::abort();
    }
  }
  return values[program.result];
}

void norm(const RowsSpec &s, double *row) {
  double mean = 0, squares = 0;
  if (s.norm == RowStatistic::layer)
    for (int64_t i = 0; i < s.group; ++i)
      mean += row[i] / s.group;
  for (int64_t i = 0; i < s.group; ++i)
    squares += (row[i] - mean) * (row[i] - mean);
  const double scale = s.norm == RowStatistic::l2
                           ? 1 / std::max(std::sqrt(squares), s.eps)
                           : 1 / std::sqrt(squares / s.group + s.eps);
  for (int64_t i = 0; i < s.group; ++i)
    row[i] = (row[i] - mean) * scale;
}

} // namespace

Numbers mille::test::attentionInDouble(const KernelSpec &spec,
                                       const Sizes &sizes,
                                       const std::vector<Numbers> &buffers) {
  return Attention(spec, sizes, buffers).run();
}

Numbers mille::test::rowsInDouble(const KernelSpec &spec, int64_t rows,
                                  const std::vector<Numbers> &buffers) {
  const RowsSpec &s = spec.rows;
  Numbers out(rows * spec.out.rowStride);
  for (int64_t row = 0; row < rows; ++row) {
    auto element = [&](size_t i, int64_t column) {
      const BufferSpec &of = s.inputs[i];
      const Numbers &from = buffers[i];
      if (s.gather[i] >= 0) {
        const double index = buffers[s.inputs.size() + s.gather[i]][row];
        return from[std::clamp<int64_t>(index, 0, of.rows - 1) * of.rowStride +
                    column];
      }
      switch (of.reading) {
      case Reading::element:
        return from[row * of.rowStride + column];
      case Reading::column:
        return from[column];
      case Reading::row:
        return from[row * of.rowStride];
      case Reading::scalar:
        break;
      }
      return from[0];
    };
    Numbers first(s.columns);
    for (int64_t column = 0; column < s.columns; ++column)
      first[column] = element(0, column);
    if (s.norm != RowStatistic::none)
      for (int64_t column = 0; column < s.columns; column += s.group)
        norm(s, &first[column]);
    for (int64_t column = 0; column < s.columns; ++column) {
      Numbers arguments{first[column]};
      for (size_t i = 1; i < s.inputs.size(); ++i)
        arguments.push_back(element(i, column));
      out[row * spec.out.rowStride + column] = valueOf(s.body, arguments);
    }
  }
  return out;
}

Numbers mille::test::rotateInDouble(const KernelSpec &spec, int64_t rows,
                                    const std::vector<Numbers> &buffers) {
  const RotateSpec &s = spec.rotate;
  const int64_t n = s.rotation.columns / 2;
  Numbers out(rows * spec.out.rowStride);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t head = 0; head < s.heads; ++head) {
      const double *from =
          &buffers[0][row * s.input.rowStride + head * s.headDim];
      const double *table = &buffers[1][row * s.rotation.rowStride];
      double *to = &out[row * spec.out.rowStride + head * s.headDim];
      std::copy(from, from + s.headDim, to);
      for (int64_t i = 0; i < n; ++i) {
        const int64_t a = s.start + (s.interleaved ? 2 * i : i),
                      b = a + (s.interleaved ? 1 : n);
        to[a] = from[a] * table[i] - from[b] * table[n + i];
        to[b] = from[b] * table[i] + from[a] * table[n + i];
      }
    }
  return out;
}
