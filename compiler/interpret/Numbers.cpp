// Norms and activations on rows of doubles, as the formulas say.
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
  case Activation::softplus:
    return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
  case Activation::exp:
    return std::exp(x);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double mille::interpreter::roundedToBfloat16(double x) {
  if (!std::isfinite(x) || x == 0)
    return x;
  int exponent; // x = fraction * 2^exponent, |fraction| in [1/2, 1)
  double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}
