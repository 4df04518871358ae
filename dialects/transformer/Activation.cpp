// Computes activations by their formulas, in double.
#include "dialects/transformer/Activation.h"

#include <cmath>
#include <limits>

using mille::transformer::Activation;

double mille::transformer::activation(Activation function, double x) {
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
