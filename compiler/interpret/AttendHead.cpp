// Computes scores, softmax and sums over values of one head by the formulas.
// Must stay plain, and must not call anything that the generators use.
#include "compiler/interpret/AttendHead.h"

#include <limits>

using namespace mille::interpreter;
using mille::transformer::LengthKind;

double mille::interpreter::lengthFactor(transformer::LengthScaleAttr scale,
                                        int64_t seen, int64_t i,
                                        double position) {
  switch (scale.getKind()) {
  case LengthKind::log_keys:
    return std::log(std::max(double(seen), double(scale.getFloor()))) /
           std::log(double(scale.getBase()));
  case LengthKind::log_position:
    return std::max(1.0, std::log(double(i + 1)) /
                             std::log(double(scale.getBase())));
  case LengthKind::log_floor:
    return 1 + double(scale.getBeta()) *
                   std::log(1 + std::floor((position + scale.getOffset()) /
                                           double(scale.getPeriod())));
  }
  return std::numeric_limits<double>::quiet_NaN();
}

namespace {

double dot(const double *a, const double *b, int64_t n) {
  double sum = 0;
  for (int64_t c = 0; c < n; ++c)
    sum += a[c] * b[c];
  return sum;
}

// Computes the scores of each query in turn. The keys are transposed, so that
// the compiler adds to many scores at once; each sum still runs over c in
// order.
class Scores {
public:
  explicit Scores(const Head &head)
      : head(head), across(head.headDim * head.keys), numbers(head.keys) {
    for (int64_t j = 0; j < head.keys; ++j)
      for (int64_t c = 0; c < head.headDim; ++c)
        across[c * head.keys + j] = head.key[j * head.keyStride + c];
    seen.reserve(head.keys);
  }

  void compute(int64_t i) {
    const double *query = head.query + i * head.queryStride;
    double factor = head.scale * (head.factor ? head.factor(i) : 1.0);
    std::fill(numbers.begin(), numbers.end(), 0.0);
    for (int64_t c = 0; c < head.headDim; ++c)
      for (int64_t j = 0; j < head.keys; ++j)
        numbers[j] += query[c] * across[c * head.keys + j];
    seen.clear();
    for (int64_t j = 0; j < head.keys; ++j) {
      if (!head.sees(i, j))
        continue;
      numbers[j] *= factor;
      if (head.softcap > 0)
        numbers[j] = softcap(head.softcap, numbers[j]);
      numbers[j] += head.bias(i, j);
      seen.push_back(j);
    }
  }

  double at(int64_t j) const { return numbers[j]; }
  const std::vector<int64_t> &keysSeen() const { return seen; }

private:
  const Head &head;
  std::vector<double> across; // [headDim, keys]
  std::vector<double> numbers;
  std::vector<int64_t> seen;
};

} // namespace

void mille::interpreter::attendHead(const Head &head) {
  Scores scores(head);
  for (int64_t i = 0; i < head.queries; ++i) {
    scores.compute(i);
    double *out = head.out + i * head.outStride;
    std::fill(out, out + head.valueDim, 0.0);
    if (scores.keysSeen().empty())
      continue;
    double largest =
        head.sink ? *head.sink : scores.at(scores.keysSeen().front());
    for (int64_t j : scores.keysSeen())
      largest = std::max(largest, scores.at(j));
    double sum = head.sink ? std::exp(*head.sink - largest) : 0.0;
    for (int64_t j : scores.keysSeen()) {
      double weight = std::exp(scores.at(j) - largest);
      const double *value = head.value + j * head.valueStride;
      sum += weight;
      for (int64_t c = 0; c < head.valueDim; ++c)
        out[c] += weight * value[c];
    }
    for (int64_t c = 0; c < head.valueDim; ++c)
      out[c] /= sum;
  }
}

void mille::interpreter::attendLinearly(const Head &head, double decay) {
  for (int64_t i = 0; i < head.queries; ++i) {
    double *out = head.out + i * head.outStride;
    std::fill(out, out + head.valueDim, 0.0);
    for (int64_t j = 0; j <= i && j < head.keys; ++j) {
      if (!head.sees(i, j))
        continue;
      double weight = std::exp(-decay * double(i - j)) * head.scale *
                      dot(head.query + i * head.queryStride,
                          head.key + j * head.keyStride, head.headDim);
      const double *value = head.value + j * head.valueStride;
      for (int64_t c = 0; c < head.valueDim; ++c)
        out[c] += weight * value[c];
    }
  }
}

void mille::interpreter::attendByToken(const Head &head, double decay,
                                       int64_t tokens, double *sum) {
  const double kept = std::exp(-decay);
  for (int64_t t = 0; t < head.queries; ++t) {
    double *out = head.out + t * head.outStride;
    std::fill(out, out + head.valueDim, 0.0);
    if (t >= tokens)
      continue;
    const double *query = head.query + t * head.queryStride,
                 *key = head.key + t * head.keyStride,
                 *value = head.value + t * head.valueStride;
    const bool seen = head.sees(t, t);
    for (int64_t c = 0; c < head.headDim; ++c)
      for (int64_t v = 0; v < head.valueDim; ++v) {
        double &one = sum[c * head.valueDim + v];
        one = one * kept + (seen ? key[c] * value[v] : 0.0);
        out[v] += head.scale * query[c] * one;
      }
  }
}

int64_t mille::interpreter::tokensShown(const Tensor *mask, int64_t sequence,
                                        int64_t tokens) {
  int64_t shown = tokens;
  while (mask && shown > 0 && mask->numbers[sequence * tokens + shown - 1] == 0)
    --shown;
  return shown;
}
