// Compares the derivative of every activation, and of every op that a scalar
// region may hold, with central differences in double; and looks at arguments
// where an exp overflows.
//
// RUN: %programs/scalar-derivative
#include "compiler/fuse/ScalarDerivative.h"
#include "compiler/fuse/Activations.h"
#include "compiler/interpret/ScalarRegion.h"
#include "mlir/IR/MLIRContext.h"

#include <cmath>
#include <cstdio>
#include <functional>

using namespace mlir;
using namespace mille;

namespace {

int failures = 0;

using Formula = std::function<Value(OpBuilder &, Location, Value)>;

// A formula of one number, or its derivative, run in double.
class Function {
public:
  Function(MLIRContext &context, const Formula &formula, bool derived) {
    Location location = UnknownLoc::get(&context);
    Block *block = new Block();
    region.push_back(block);
    OpBuilder builder(&context);
    Value x = block->addArgument(builder.getF32Type(), location);
    builder.setInsertionPointToEnd(block);
    Value y = formula(builder, location, x);
    if (derived) {
      Value slope = derivativeOf(builder, y, x);
      y = slope ? slope : constant(builder, location, 0);
    }
    kernel::YieldOp::create(builder, location, y);
    program.read(region);
  }

  double operator()(double x) {
    double y = NAN;
    program.run({&x}, 1, &y);
    return y;
  }

private:
  Region region;
  interpreter::ScalarRegion program;
};

void expect(bool holds, const char *name, double x, double got, double want) {
  if (holds)
    return;
  ++failures;
  printf("%s at %g: %.12g, not %.12g\n", name, x, got, want);
}

void check(MLIRContext &context, const char *name, const Formula &formula,
           const std::vector<double> &points) {
  Function value(context, formula, false), slope(context, formula, true);
  for (double x : points) {
    constexpr double step = 1e-5;
    const double want = (value(x + step) - value(x - step)) / (2 * step);
    expect(std::fabs(slope(x) - want) <= 1e-6 * (1 + std::fabs(want)), name, x,
           slope(x), want);
  }
}

Formula activationOf(transformer::Activation function) {
  return [=](OpBuilder &builder, Location location, Value x) {
    return applyActivation(builder, location, function, x);
  };
}

template <typename Op> Formula unary() {
  return [](OpBuilder &builder, Location location, Value x) -> Value {
    return Op::create(builder, location, x);
  };
}

// Op(x^2, 3 x + 1), or with the operands turned.
template <typename Op> Formula binary(bool turned) {
  return [=](OpBuilder &b, Location l, Value x) -> Value {
    Value square = arith::MulFOp::create(b, l, x, x);
    Value line =
        math::FmaOp::create(b, l, constant(b, l, 3), x, constant(b, l, 1));
    return turned ? Op::create(b, l, line, square)
                  : Op::create(b, l, square, line);
  };
}

void checkOps(MLIRContext &context) {
  const std::vector<double> all{-2.3, -1.1, -0.2, 0.3, 0.9, 2.7, 5.5};
  const std::vector<double> positive{0.1, 0.9, 4.2};
  check(context, "exp", unary<math::ExpOp>(), all);
  check(context, "exp2", unary<math::Exp2Op>(), all);
  check(context, "tanh", unary<math::TanhOp>(), all);
  check(context, "erf", unary<math::ErfOp>(), all);
  check(context, "erfc", unary<math::ErfcOp>(), all);
  check(context, "sin", unary<math::SinOp>(), all);
  check(context, "cos", unary<math::CosOp>(), all);
  check(context, "abs", unary<math::AbsFOp>(), all);
  check(context, "neg", unary<arith::NegFOp>(), all);
  check(context, "log", unary<math::LogOp>(), positive);
  check(context, "sqrt", unary<math::SqrtOp>(), positive);
  check(context, "rsqrt", unary<math::RsqrtOp>(), positive);
  for (bool turned : {false, true}) {
    check(context, "add", binary<arith::AddFOp>(turned), all);
    check(context, "sub", binary<arith::SubFOp>(turned), all);
    check(context, "mul", binary<arith::MulFOp>(turned), all);
    check(context, "div", binary<arith::DivFOp>(turned), all);
    check(context, "maximum", binary<arith::MaximumFOp>(turned), all);
    check(context, "minimum", binary<arith::MinimumFOp>(turned), all);
    check(context, "maxnum", binary<arith::MaxNumFOp>(turned), all);
    check(context, "minnum", binary<arith::MinNumFOp>(turned), all);
  }
  auto select = [](OpBuilder &b, Location l, Value x) -> Value {
    Value square = arith::MulFOp::create(b, l, x, x);
    Value seen = arith::CmpFOp::create(b, l, arith::CmpFPredicate::OGT, x,
                                       constant(b, l, 0.5));
    return arith::SelectOp::create(b, l, seen, square, x);
  };
  check(context, "select", select, all);
}

// Far from 0 a slope has a limit, and one of the two at a kink.
void checkLimits(MLIRContext &context, transformer::Activation function,
                 double below, double at, double above) {
  Function slope(context, activationOf(function), true);
  const std::string name = stringifyActivation(function).str();
  for (auto [x, want] : {std::pair{-2000.0, below},
                         {-800.0, below},
                         {0.0, at},
                         {800.0, above},
                         {2000.0, above}})
    expect(std::fabs(slope(x) - want) < 1e-6, name.c_str(), x, slope(x), want);
}

} // namespace

int main() {
  using transformer::Activation;
  MLIRContext context;
  context.loadDialect<kernel::KernelDialect, arith::ArithDialect,
                      math::MathDialect>();
  const std::vector<double> points{-9.5, -3.3, -1.2, -0.51, -0.01,
                                   0.02, 0.7,  1.9,  4.4,   8.8};
  for (uint32_t number = 0;
       auto function = transformer::symbolizeActivation(number); ++number)
    check(context, stringifyActivation(*function).str().c_str(),
          activationOf(*function), points);
  checkOps(context);
  checkLimits(context, Activation::silu, 0, 0.5, 1);
  checkLimits(context, Activation::gelu_erf, 0, 0.5, 1);
  checkLimits(context, Activation::gelu_tanh, 0, 0.5, 1);
  checkLimits(context, Activation::quick_gelu, 0, 0.5, 1);
  checkLimits(context, Activation::sigmoid, 0, 0.25, 0);
  checkLimits(context, Activation::softplus, 0, 0.5, 1);
  checkLimits(context, Activation::relu, 0, 0, 1);
  checkLimits(context, Activation::tanh, 0, 1, 0);
  printf("%d failures\n", failures);
  return failures != 0;
}
