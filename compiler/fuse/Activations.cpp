// The formula of each activation, as scalar arith and math ops. Below the
// importer no other table of activations exists.
#include "compiler/fuse/Activations.h"

using namespace mlir;
using mille::transformer::Activation;

Value mille::constant(OpBuilder &builder, Location location, double value) {
  return arith::ConstantOp::create(
      builder, location, builder.getF32FloatAttr(static_cast<float>(value)));
}

namespace {

// Writes formulas: `f.times(0.5, x)`.
struct Formula {
  OpBuilder &builder;
  Location location;

  Value number(double value) {
    return mille::constant(builder, location, value);
  }
  Value times(Value a, Value b) {
    return arith::MulFOp::create(builder, location, a, b);
  }
  Value times(double a, Value b) { return times(number(a), b); }
  Value plus(Value a, Value b) {
    return arith::AddFOp::create(builder, location, a, b);
  }
  Value over(Value a, Value b) {
    return arith::DivFOp::create(builder, location, a, b);
  }
  Value exp(Value a) { return math::ExpOp::create(builder, location, a); }
  Value relu(Value a) {
    return arith::MaximumFOp::create(builder, location, a, number(0));
  }
  // a / (1 + exp(z)): a sigmoid(-z). Where exp overflows, the result is 0.
  Value gated(Value a, Value z) { return over(a, plus(number(1), exp(z))); }
};

} // namespace

Value mille::applyActivation(OpBuilder &builder, Location location,
                             Activation function, Value x) {
  constexpr double sqrtHalf = 0.70710678118654752440;    // 1 / sqrt 2
  constexpr double sqrtTwoByPi = 0.79788456080286535588; // sqrt(2 / pi)
  Formula f{builder, location};
  switch (function) {
  case Activation::identity:
    return x;
  case Activation::relu:
    return f.relu(x);
  case Activation::relu2: {
    Value positive = f.relu(x);
    return f.times(positive, positive);
  }
  case Activation::gelu_erf: // x Phi(x) = x erfc(-x / sqrt 2) / 2
    return f.times(
        f.times(0.5, x),
        math::ErfcOp::create(builder, location, f.times(-sqrtHalf, x)));
  case Activation::gelu_tanh: { // 0.5 (1 + tanh z) = 1 / (1 + exp(-2 z))
    Value square = f.times(x, x);
    Value slope = f.plus(f.number(-2 * sqrtTwoByPi),
                         f.times(-2 * sqrtTwoByPi * 0.044715, square));
    return f.gated(x, f.times(slope, x));
  }
  case Activation::quick_gelu:
    return f.gated(x, f.times(-1.702, x));
  case Activation::silu:
    return f.gated(x, f.times(-1, x));
  case Activation::tanh:
    return math::TanhOp::create(builder, location, x);
  case Activation::sigmoid:
    return f.gated(f.number(1), f.times(-1, x));
  case Activation::
      softplus: { // log(1 + exp x) = max(x, 0) + log(1 + exp(-|x|))
    Value size = math::AbsFOp::create(builder, location, x);
    Value sum = f.plus(f.number(1), f.exp(f.times(-1, size)));
    return f.plus(f.relu(x), math::LogOp::create(builder, location, sum));
  }
  case Activation::exp:
    return f.exp(x);
  }
  llvm_unreachable("an Activation has one of the values above");
}
