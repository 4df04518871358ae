// Interprets attention's backward pass by its formulas: head by head, query by
// query. Must stay plain: sums run over heads, queries and keys in order.
#include "compiler/interpret/AttendHead.h"
#include "compiler/interpret/Run.h"
#include "dialects/kernel/Backward.h"

#include <cmath>

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;

namespace {

class Backward {
public:
  Backward(Run &run, kernel::AttentionBackwardOp op)
      : op(op), query(run.at(op.getQuery())), key(run.at(op.getKey())),
        value(run.at(op.getValue())), gradient(run.at(op.getGradient())),
        mask(run.find(op.getKeyMask())),
        keyHeadBias(run.find(op.getKeyHeadBias())),
        sink(run.find(op.getSink())), bias(run.find(op.getBias())),
        segments(run.find(op.getSegments())),
        queries(run.index(op.getQueries())), keys(run.index(op.getKeys())),
        headDim(op.getHeadDim()), valueDim(op.getValueDim()),
        heads(op.getHeads()), kvHeads(op.getKvHeads()),
        scale(op.getScale().convertToDouble()),
        cap(op.getSoftcap().convertToDouble()),
        sight(op.getCausal(), op.getWindow(), op.getChunk()) {}

  // In the order of the op's outs.
  Status compute(std::vector<Tensor> &outs) {
    if (queries <= 0 || keys <= 0 || rowsOf(query) % queries) {
      op.emitError() << "queries is " << queries << " but query has "
                     << rowsOf(query) << " rows";
      return Status::input;
    }
    const int64_t sequences = rowsOf(query) / queries, rows = sequences * keys;
    for (Status s :
         {expectCount(op, "key", &key, rows * columnsOf(key)),
          expectCount(op, "value", &value, rows * columnsOf(value)),
          expectCount(op, "gradient", &gradient,
                      rowsOf(query) * columnsOf(gradient)),
          expectCount(op, "key_mask", mask, rows),
          expectCount(op, "key_head_bias", keyHeadBias,
                      keyHeadBias ? rows * columnsOf(*keyHeadBias) : 0),
          expectCount(op, "bias", byPair() ? bias : nullptr,
                      heads * keys * keys),
          expectCount(op, "bias", byPair() ? bias : nullptr,
                      heads * queries * queries),
          expectCount(op, "segments", segments, rows),
          expectCount(op, "segments", segments, rowsOf(query))})
      if (failed(s))
        return s;
    using Of = kernel::GradientOf;
    for (auto part : kernel::partsOf(op)) {
      const bool ofKeys = part.of == Of::key || part.of == Of::value ||
                          part.of == Of::key_head_bias;
      partOf(part.of) =
          zeros({ofKeys ? rows : rowsOf(query), part.columns * part.heads});
    }
    for (int64_t s = 0; s < sequences; ++s)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t i = 0; i < queries; ++i)
          addQuery(s, h, i);
    for (auto part : kernel::partsOf(op))
      outs.push_back(std::move(partOf(part.of)));
    return Status::done;
  }

private:
  const double *at(const Tensor &tensor, int64_t row, int64_t column) const {
    return &tensor.numbers[row * columnsOf(tensor) + column];
  }
  static double dot(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t c = 0; c < n; ++c)
      sum += a[c] * b[c];
    return sum;
  }
  static void add(double factor, const double *x, double *to, int64_t n) {
    for (int64_t c = 0; c < n; ++c)
      to[c] += factor * x[c];
  }

  bool sees(int64_t s, int64_t i, int64_t j) const {
    return sight.shows(i, j) && (!mask || mask->numbers[s * keys + j] != 0) &&
           (!segments || segments->numbers[s * queries + i] ==
                             segments->numbers[s * keys + j]);
  }

  bool byPair() const { return op.getBiasBy() == kernel::BiasBy::pair; }
  // The column of the gradient of `bias` for key j of query i.
  int64_t columnOf(int64_t i, int64_t j) const {
    const int64_t most = columnsOf(*bias) / 2;
    return byPair() ? j : std::clamp(j - i, -most, most) + most;
  }
  // The column of key_head_bias for head h.
  int64_t keyBiasOf(int64_t h) const {
    return h / (heads / columnsOf(*keyHeadBias));
  }
  Tensor &partOf(kernel::GradientOf of) {
    using Of = kernel::GradientOf;
    switch (of) {
    case Of::key:
      return ofKey;
    case Of::value:
      return ofValue;
    case Of::key_head_bias:
      return ofKeyBias;
    case Of::bias:
      return ofBias;
    case Of::sink:
      return ofSink;
    case Of::query:
      return ofQuery;
    }
    llvm_unreachable("a part is one of the values above");
  }

  double added(int64_t s, int64_t h, int64_t i, int64_t j) const {
    double sum = 0;
    if (keyHeadBias)
      sum += *at(*keyHeadBias, s * keys + j, keyBiasOf(h));
    if (op.getSlopes())
      sum += (*op.getSlopes())[h] * double(j - i);
    if (bias)
      sum += *at(*bias, h, byPair() ? i * keys + j : columnOf(i, j));
    return sum;
  }

  void addQuery(int64_t s, int64_t h, int64_t i) {
    const int64_t row = s * queries + i, shared = h / (heads / kvHeads);
    const double *q = at(query, row, op.getOffsets()[0] + h * headDim),
                 *g = at(gradient, row, h * valueDim);
    std::vector<int64_t> seen;
    std::vector<double> scores, weights, slopes;
    for (int64_t j = 0; j < keys; ++j) {
      if (!sees(s, i, j))
        continue;
      const double *k =
          at(key, s * keys + j, op.getOffsets()[1] + shared * headDim);
      double score = scale * dot(q, k, headDim);
      const double t = cap > 0 ? std::tanh(score / cap) : 0;
      seen.push_back(j);
      scores.push_back((cap > 0 ? cap * t : score) + added(s, h, i, j));
      slopes.push_back(scale * (1 - t * t));
    }
    if (seen.empty())
      return;
    double largest = *std::max_element(scores.begin(), scores.end());
    if (sink)
      largest = std::max(largest, sink->numbers[h]);
    const double ofTheSink = sink ? std::exp(sink->numbers[h] - largest) : 0;
    double sum = ofTheSink, mean = 0;
    for (double &score : scores)
      sum += score = std::exp(score - largest);
    for (auto [j, score] : llvm::zip(seen, scores)) {
      score /= sum;
      weights.push_back(dot(
          g, at(value, s * keys + j, op.getOffsets()[2] + shared * valueDim),
          valueDim));
      mean += score * weights.back();
    }
    if (sink)
      ofSink.numbers[row * heads + h] = -ofTheSink / sum * mean;
    for (auto [n, j] : llvm::enumerate(seen)) {
      const int64_t other = s * keys + j;
      const double u = scores[n] * (weights[n] - mean), d = u * slopes[n];
      add(scores[n], g, &ofValue.numbers[(other * kvHeads + shared) * valueDim],
          valueDim);
      add(d, q, &ofKey.numbers[(other * kvHeads + shared) * headDim], headDim);
      add(d, at(key, other, op.getOffsets()[1] + shared * headDim),
          &ofQuery.numbers[(row * heads + h) * headDim], headDim);
      if (bias)
        ofBias.numbers[row * columnsOf(ofBias) +
                       h * (columnsOf(ofBias) / heads) + columnOf(i, j)] += u;
      if (op.getKeyHeadGradient())
        ofKeyBias.numbers[other * columnsOf(ofKeyBias) + keyBiasOf(h)] += u;
    }
  }

  mutable kernel::AttentionBackwardOp op;
  const Tensor &query, &key, &value, &gradient;
  const Tensor *mask, *keyHeadBias, *sink, *bias, *segments;
  int64_t queries, keys, headDim, valueDim, heads, kvHeads;
  double scale, cap;
  Sight sight;
  Tensor ofKey, ofValue, ofKeyBias, ofBias, ofSink, ofQuery;
};

} // namespace

Status mille::interpreter::runOp(Run &run, kernel::AttentionBackwardOp op) {
  std::vector<Tensor> outs;
  if (Status s = Backward(run, op).compute(outs); failed(s))
    return s;
  for (auto [result, out] : llvm::zip_equal(op.getResults(), outs))
    run.set(result, std::move(out));
  return Status::done;
}
