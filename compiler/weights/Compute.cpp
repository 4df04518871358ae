// Nodes that compute their numbers from the model's description or from other
// weights. Must compute in double.
#include "compiler/weights/Elements.h"
#include "compiler/weights/Moves.h"
#include "dialects/transformer/Activation.h"

#include <algorithm>
#include <cmath>

using namespace mille;
using transformer::Activation;
using transformer::activation;
using transformer::ValueFunction;

namespace {

class Numbers final : public Moves<Numbers> {
public:
  explicit Numbers(transformer::NumbersAttr list) : list(list) {
    shape.assign(list.getType().getShape().begin(),
                 list.getType().getShape().end());
  }
  template <typename Number>
  void move(int64_t first, int64_t count, Number *into) const {
    const double *from = list.getNumbers().asArrayRef().data();
    const int64_t size = rowSize();
    for (int64_t i = first * size; i < (first + count) * size; ++i)
      *into++ = Number(from[i]);
  }

private:
  transformer::NumbersAttr list;
};

class Sinusoid final : public Expression {
public:
  using Expression::rows;
  explicit Sinusoid(transformer::SinusoidAttr table) : table(table) {
    shape.assign(table.getType().getShape().begin(),
                 table.getType().getShape().end());
  }
  void rows(int64_t first, int64_t count, double *into) const override {
    const int64_t width = shape[1], half = width / 2;
    for (int64_t position = first; position < first + count;
         ++position, into += width) {
      std::fill_n(into, width, 0.0);
      if (position == table.getZero())
        continue;
      for (int64_t i = 0; i < half; ++i) {
        const double angle = double(position) *
                             std::pow(10000.0, -double(i) / table.getDivisor());
        into[i] = rounded(std::sin(angle));
        into[half + i] = rounded(std::cos(angle));
      }
    }
  }

private:
  double rounded(double number) const {
    return table.getType().getElementType().isF32() ? float(number) : number;
  }
  transformer::SinusoidAttr table;
};

// left * right^T. It holds the whole of right in memory.
class Product final : public Expression {
public:
  using Expression::rows;
  Product(ExpressionPtr from, ExpressionPtr by) : left(std::move(from)) {
    shape = {left->shape[0], by->shape[0]};
    right.resize(by->elements());
    by->rows(0, by->rowCount(), right.data());
  }
  void rows(int64_t first, int64_t count, double *into) const override {
    const int64_t depth = left->shape[1];
    std::vector<double> row(depth);
    for (int64_t m = first; m < first + count; ++m) {
      left->rows(m, 1, row.data());
      for (int64_t n = 0; n < shape[1]; ++n) {
        double sum = 0;
        for (int64_t k = 0; k < depth; ++k)
          sum += row[k] * right[n * depth + k];
        *into++ = sum;
      }
    }
  }

private:
  ExpressionPtr left;
  std::vector<double> right;
};

double applied(ValueFunction function, double x) {
  switch (function) {
  case ValueFunction::relu:
    return activation(Activation::relu, x);
  case ValueFunction::gelu_erf:
    return activation(Activation::gelu_erf, x);
  case ValueFunction::sigmoid:
    return activation(Activation::sigmoid, x);
  case ValueFunction::tanh:
    return activation(Activation::tanh, x);
  case ValueFunction::exp:
    return activation(Activation::exp, x);
  case ValueFunction::exp_min_ln100:
    return std::exp(std::min(x, std::log(100.0)));
  case ValueFunction::negate:
    return -x;
  case ValueFunction::sqrt:
    return std::sqrt(x);
  case ValueFunction::rsqrt:
    return 1 / std::sqrt(x);
  case ValueFunction::bfloat16:
    return widenBf16(narrowBf16(float(x)));
  }
  llvm_unreachable("a ValueFunction has one of the values above");
}

class Apply final : public Expression {
public:
  using Expression::rows;
  Apply(ExpressionPtr from, ValueFunction function)
      : value(std::move(from)), function(function) {
    shape = value->shape;
  }
  void rows(int64_t first, int64_t count, double *into) const override {
    value->rows(first, count, into);
    for (int64_t i = 0; i < count * rowSize(); ++i)
      into[i] = applied(function, into[i]);
  }

private:
  ExpressionPtr value;
  ValueFunction function;
};

class Normed final : public Expression {
public:
  using Expression::rows;
  Normed(ExpressionPtr from, ExpressionPtr gain, ExpressionPtr shift,
         double eps)
      : value(std::move(from)), weight(gain->elements()),
        bias(shift->elements()), eps(eps) {
    shape = value->shape;
    gain->rows(0, gain->rowCount(), weight.data());
    shift->rows(0, shift->rowCount(), bias.data());
  }
  void rows(int64_t first, int64_t count, double *into) const override {
    value->rows(first, count, into);
    const int64_t width = shape[1];
    for (int64_t m = 0; m < count; ++m, into += width) {
      double mean = 0, variance = 0;
      for (int64_t i = 0; i < width; ++i)
        mean += into[i] / width;
      for (int64_t i = 0; i < width; ++i)
        variance += (into[i] - mean) * (into[i] - mean) / width;
      for (int64_t i = 0; i < width; ++i)
        into[i] =
            (into[i] - mean) / std::sqrt(variance + eps) * weight[i] + bias[i];
    }
  }

private:
  ExpressionPtr value;
  std::vector<double> weight, bias;
  double eps;
};

} // namespace

ExpressionPtr mille::numbers(transformer::NumbersAttr list) {
  return std::make_unique<Numbers>(list);
}

ExpressionPtr mille::sinusoid(transformer::SinusoidAttr table) {
  return std::make_unique<Sinusoid>(table);
}

ExpressionPtr mille::product(ExpressionPtr left, ExpressionPtr right) {
  return std::make_unique<Product>(std::move(left), std::move(right));
}

ExpressionPtr mille::apply(ExpressionPtr value, ValueFunction function) {
  return std::make_unique<Apply>(std::move(value), function);
}

ExpressionPtr mille::normed(ExpressionPtr value, ExpressionPtr weight,
                            ExpressionPtr bias, double eps) {
  return std::make_unique<Normed>(std::move(value), std::move(weight),
                                  std::move(bias), eps);
}
