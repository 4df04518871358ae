// Computes scores, softmax and sums over values of one head by the formulas.
// Must stay plain, and must not call anything that the generators use.
#include "compiler/interpret/AttendHead.h"
#include "compiler/interpret/Loops.h"

#include <algorithm>
#include <vector>

using namespace mille::interpreter;

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
    slopes.assign(head.keys, 1.0);
    products = numbers;
    for (int64_t j = 0; j < head.keys; ++j) {
      if (!head.sees(i, j))
        continue;
      numbers[j] *= factor;
      if (head.softcap > 0) {
        numbers[j] = softcap(head.softcap, numbers[j]);
        slopes[j] = 1 - std::pow(numbers[j] / head.softcap, 2);
      }
      numbers[j] += head.bias(i, j);
      seen.push_back(j);
    }
  }

  double at(int64_t j) const { return numbers[j]; }
  // query . key, and the softcap's derivative at the score.
  double product(int64_t j) const { return products[j]; }
  double slope(int64_t j) const { return slopes[j]; }
  const std::vector<int64_t> &keysSeen() const { return seen; }

private:
  const Head &head;
  std::vector<double> across; // [headDim, keys]
  std::vector<double> numbers, products, slopes;
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

namespace {

// The weights of the keys that a query sees; gives that of the sink.
double weigh(const Head &head, const Scores &scores,
             std::vector<double> &weights) {
  double largest =
      head.sink ? *head.sink : scores.at(scores.keysSeen().front());
  for (int64_t j : scores.keysSeen())
    largest = std::max(largest, scores.at(j));
  double sunk = head.sink ? std::exp(*head.sink - largest) : 0.0, sum = sunk;
  for (int64_t j : scores.keysSeen())
    sum += weights[j] = std::exp(scores.at(j) - largest);
  for (int64_t j : scores.keysSeen())
    weights[j] /= sum;
  return sunk / sum;
}

} // namespace

void mille::interpreter::attendHeadGradient(const Head &head,
                                            HeadGradient &into) {
  Scores scores(head);
  std::vector<double> weights(head.keys);
  for (int64_t i = 0; i < head.queries; ++i) {
    scores.compute(i);
    if (scores.keysSeen().empty())
      continue;
    const double *gradient = into.gradient + i * head.outStride;
    double sunk = weigh(head, scores, weights);
    double mean = dot(gradient, head.out + i * head.outStride, head.valueDim);
    double factor = head.factor ? head.factor(i) : 1.0, ofFactor = 0;
    into.sink -= sunk * mean;
    for (int64_t j : scores.keysSeen()) {
      const int64_t valueAt = j * head.valueStride, keyAt = j * head.keyStride;
      for (int64_t c = 0; c < head.valueDim; ++c)
        into.value[valueAt + c] += weights[j] * gradient[c];
      double score =
          weights[j] *
          (dot(gradient, head.value + valueAt, head.valueDim) - mean);
      into.score(i, j, score);
      score *= scores.slope(j) * head.scale;
      ofFactor += score * scores.product(j);
      for (int64_t c = 0; c < head.headDim; ++c) {
        into.query[i * head.queryStride + c] +=
            score * factor * head.key[keyAt + c];
        into.key[keyAt + c] +=
            score * factor * head.query[i * head.queryStride + c];
      }
    }
    into.factor(i, ofFactor);
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
