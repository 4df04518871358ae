// Norms, activations and attention on rows of doubles, as the formulas say.
// Plain and slow; must not call anything the generators use.
#include "compiler/interpret/Numbers.h"

#include <limits>

using namespace mille::interpreter;
using mille::transformer::Activation;

int64_t mille::interpreter::elementsOf(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

void mille::interpreter::normRow(RowNorm kind, double eps, double *row,
                                 int64_t n) {
  double mean = 0, square = 0;
  if (kind == RowNorm::layer) {
    for (int64_t i = 0; i < n; ++i)
      mean += row[i];
    mean /= n;
  }
  for (int64_t i = 0; i < n; ++i)
    square += (row[i] - mean) * (row[i] - mean);
  double length =
      kind == RowNorm::l2 ? std::sqrt(square) : std::sqrt(square / n + eps);
  if (kind == RowNorm::l2 && length < eps)
    length = eps;
  // A row of zeros under l2_norm without eps stays 0.
  double factor = length == 0 ? 0 : 1 / length;
  for (int64_t i = 0; i < n; ++i)
    row[i] = (row[i] - mean) * factor;
}

double mille::interpreter::activation(Activation function, double x) {
  auto sigmoid = [](double z) { return 1 / (1 + std::exp(-z)); };
  switch (function) {
  case Activation::identity:
    return x;
  case Activation::relu:
    return x < 0 ? 0 : x;
  case Activation::relu2:
    return x < 0 ? 0 : x * x;
  case Activation::gelu_erf:
    return 0.5 * x * std::erfc(-x * M_SQRT1_2);
  case Activation::gelu_tanh:
    return 0.5 * x *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  case Activation::quick_gelu:
    return x * sigmoid(1.702 * x);
  case Activation::silu:
    return x * sigmoid(x);
  case Activation::tanh:
    return std::tanh(x);
  case Activation::sigmoid:
    return sigmoid(x);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

void mille::interpreter::attendHead(const Head &head) {
  std::vector<double> keysAcross(head.headDim * head.keys); // [headDim, keys]
  for (int64_t j = 0; j < head.keys; ++j)
    for (int64_t c = 0; c < head.headDim; ++c)
      keysAcross[c * head.keys + j] = head.key[j * head.keyStride + c];
  std::vector<double> scores(head.keys);
  for (int64_t i = 0; i < head.queries; ++i) {
    const double *query = head.query + i * head.queryStride;
    std::fill(scores.begin(), scores.end(), 0.0);
    for (int64_t c = 0; c < head.headDim; ++c)
      for (int64_t j = 0; j < head.keys; ++j)
        scores[j] += query[c] * keysAcross[c * head.keys + j];
    double largest = -std::numeric_limits<double>::infinity();
    for (int64_t j = 0; j < head.keys; ++j) {
      if (!head.sees(i, j))
        continue;
      scores[j] *= head.scale;
      if (head.softcap > 0)
        scores[j] = softcap(head.softcap, scores[j]);
      scores[j] += head.bias(i, j);
      largest = std::max(largest, scores[j]);
    }
    double *out = head.out + i * head.outStride;
    std::fill(out, out + head.valueDim, 0.0);
    double sum = 0;
    for (int64_t j = 0; j < head.keys; ++j) {
      if (!head.sees(i, j))
        continue;
      double weight = std::exp(scores[j] - largest);
      sum += weight;
      for (int64_t c = 0; c < head.valueDim; ++c)
        out[c] += weight * head.value[j * head.valueStride + c];
    }
    for (int64_t c = 0; c < head.valueDim && sum != 0; ++c)
      out[c] /= sum;
  }
}
