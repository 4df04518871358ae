// Computes activations and their derivatives by their formulas, in double.
#include "dialects/transformer/Activation.h"

#include <algorithm>
#include <cmath>
#include <limits>

using mille::transformer::Activation;

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double mille::transformer::activation(Activation function, double x) {
  switch (function) {
  case Activation::identity:
    return x;
  case Activation::relu:
    return x < 0 ? 0 : x;
  case Activation::relu2:
    return x < 0 ? 0 : x * x;
  case Activation::gelu_erf: // -0 long before -40: an infinity must not meet it
    return 0.5 * std::max(x, -40.0) * std::erfc(-x * M_SQRT1_2);
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

double mille::transformer::activationSlope(Activation function, double x) {
  switch (function) {
  case Activation::identity:
    return 1;
  case Activation::relu:
    return x > 0 ? 1 : 0;
  case Activation::relu2:
    return x > 0 ? 2 * x : 0;
  case Activation::gelu_erf: // exp is 0 long before an infinity meets it
    return 0.5 * std::erfc(-x * M_SQRT1_2) + std::clamp(x, -40.0, 40.0) *
                                                 std::exp(-x * x / 2) /
                                                 std::sqrt(2 * M_PI);
  case Activation::gelu_tanh: {
    double c = std::sqrt(2 / M_PI);
    double t = std::tanh(c * (x + 0.044715 * x * x * x));
    return 0.5 * (1 + t) +
           0.5 * x * (1 - t * t) * c * (1 + 3 * 0.044715 * x * x);
  }
  case Activation::quick_gelu: {
    double s = sigmoid(1.702 * x);
    return s + 1.702 * x * s * (1 - s);
  }
  case Activation::silu: {
    double s = sigmoid(x);
    return s + x * s * (1 - s);
  }
  case Activation::tanh:
    return 1 - std::pow(std::tanh(x), 2);
  case Activation::sigmoid:
    return sigmoid(x) * (1 - sigmoid(x));
  case Activation::softplus:
    return sigmoid(x);
  case Activation::exp:
    return std::exp(x);
  }
  return std::numeric_limits<double>::quiet_NaN();
}
