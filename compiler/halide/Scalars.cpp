// Evaluates scalar programs step by step, except formulas that have a quicker
// polynomial. Must give a NaN where a step does.
#include "compiler/halide/Scalars.h"

#include "compiler/halide/Functions.h"
#include "compiler/halide/Gelu.h"
#include "compiler/halide/OneRounding.h"
#include "compiler/halide/Polynomials.h"

using namespace Halide;

namespace mille {
namespace {

Expr compared(Comparison comparison, const Expr &a, const Expr &b) {
  using C = Internal::Call;
  switch (comparison) {
  case Comparison::eq:
    return oneRounding(C::strict_eq, a, b);
  case Comparison::gt:
    return oneRounding(C::strict_lt, b, a);
  case Comparison::ge:
    return oneRounding(C::strict_le, b, a);
  case Comparison::lt:
    return oneRounding(C::strict_lt, a, b);
  case Comparison::le:
    return oneRounding(C::strict_le, a, b);
  case Comparison::ne:
    return !oneRounding(C::strict_eq, a, b);
  }
  return {};
}

// A NaN of either operand goes through; constants are not NaN.
Expr keepNans(const Expr &a, const Expr &b, Expr value) {
  for (const Expr &side : {a, b})
    if (!Internal::is_const(side))
      value = keepNan(side, value);
  return value;
}

// The other operand where one is NaN.
Expr dropNans(const Expr &a, const Expr &b, Expr value) {
  if (!Internal::is_const(a))
    value = select(isNan(a), b, value);
  return Internal::is_const(b) ? value : select(isNan(b), a, value);
}

Expr stepOf(const ScalarStep &s, const Expr &a, const Expr &b, const Expr &c) {
  using C = Internal::Call;
  switch (s.op) {
  case ScalarOp::constant:
    return Expr(float(s.value));
  case ScalarOp::add:
    return oneRounding(C::strict_add, a, b);
  case ScalarOp::sub:
    return oneRounding(C::strict_sub, a, b);
  case ScalarOp::mul:
    return oneRounding(C::strict_mul, a, b);
  case ScalarOp::div:
    return oneRounding(C::strict_div, a, b);
  case ScalarOp::neg:
    return -a;
  case ScalarOp::maximum:
    return keepNans(a, b, max(a, b));
  case ScalarOp::minimum:
    return keepNans(a, b, min(a, b));
  case ScalarOp::maxnum:
    return dropNans(a, b, max(a, b));
  case ScalarOp::minnum:
    return dropNans(a, b, min(a, b));
  case ScalarOp::compare:
    return compared(s.comparison, a, b);
  case ScalarOp::select:
    return select(a, b, c);
  case ScalarOp::exp:
    return expOf(a);
  case ScalarOp::exp2:
    return exp2Of(a);
  case ScalarOp::tanh:
    return tanhOf(a);
  case ScalarOp::erf:
    return erfOf(a);
  case ScalarOp::erfc:
    return erfcOf(a);
  case ScalarOp::sqrt:
    return sqrt(a);
  case ScalarOp::rsqrt:
    return 1.0f / sqrt(a);
  case ScalarOp::abs:
    return abs(a);
  case ScalarOp::log:
    return logOf(a);
  case ScalarOp::sin:
    return sinOf(a);
  case ScalarOp::cos:
    return cosOf(a);
  case ScalarOp::fma:
    return a * b + c; // fused where the machine can
  }
  return {};
}

// Finds formulas that have a quicker polynomial.
struct Matcher {
  const ScalarProgram &program;

  const ScalarStep *step(int value, ScalarOp op) const {
    if (value < program.arguments)
      return nullptr;
    const ScalarStep &s = program.steps[value - program.arguments];
    return s.op == op ? &s : nullptr;
  }

  // The x of c * x or x * c, or -1.
  int scaledBy(int value, double c) const {
    const ScalarStep *product = step(value, ScalarOp::mul);
    for (int i = 0; product && i < 2; ++i) {
      const ScalarStep *factor = step(product->operands[i], ScalarOp::constant);
      if (factor && std::abs(factor->value - c) < 1e-7)
        return product->operands[1 - i];
    }
    return -1;
  }

  // The x of 0.5 x erfc(-x / sqrt 2), in any order of its products, or -1.
  int geluOf(const ScalarStep &s) const {
    for (int i = 0; s.op == ScalarOp::mul && i < 2; ++i) {
      const ScalarStep *tail = step(s.operands[i], ScalarOp::erfc);
      int x = scaledBy(s.operands[1 - i], 0.5);
      if (tail && x >= 0 &&
          scaledBy(tail->operands[0], -0.70710678118654752) == x)
        return x;
    }
    return -1;
  }

  // The x of 0.5 erfc(t) + 0.5 x (c (exp(-t^2) d)) for t = d x, d = -1 / sqrt 2
  // and c = -2 / sqrt pi: what compiler/fuse makes of GELU's derivative; or -1.
  int geluSlopeOf(const ScalarStep &s) const {
    constexpr double d = -0.70710678118654752, c = -1.1283791670955126;
    if (s.op != ScalarOp::add)
      return -1;
    for (int i = 0; i < 2; ++i) {
      const ScalarStep *tail =
          step(scaledBy(s.operands[i], 0.5), ScalarOp::erfc);
      const ScalarStep *bend = step(s.operands[1 - i], ScalarOp::mul);
      const int x = tail ? scaledBy(tail->operands[0], d) : -1;
      for (int j = 0; bend && x >= 0 && j < 2; ++j)
        if (scaledBy(bend->operands[j], 0.5) == x &&
            isBell(scaledBy(scaledBy(bend->operands[1 - j], c), d),
                   tail->operands[0]))
          return x;
    }
    return -1;
  }

private:
  // Whether a value is exp(-t t).
  bool isBell(int value, int t) const {
    const ScalarStep *exp = step(value, ScalarOp::exp);
    const ScalarStep *square =
        exp ? step(scaledBy(exp->operands[0], -1), ScalarOp::mul) : nullptr;
    return square && square->operands[0] == t && square->operands[1] == t;
  }
};

} // namespace

Expr evaluate(const ScalarProgram &program, const std::vector<Expr> &arguments,
              Element element, bool picks) {
  std::vector<Expr> values = arguments;
  auto operand = [&](int number) {
    return number < 0 ? Expr() : values[number];
  };
  const Matcher matcher{program};
  auto gelu = [&](const Expr &x) {
    if (picks)
      return isBf16(element) ? geluPickedForBf16(x) : geluPicked(x);
    return isBf16(element) ? geluForBf16(x) : geluOf(x);
  };
  auto slope = [&](const Expr &x) {
    return picks ? geluSlopePicked(x) : geluSlopeOf(x);
  };
  for (const ScalarStep &s : program.steps) {
    int x = matcher.geluOf(s), slopeAt = matcher.geluSlopeOf(s);
    values.push_back(x >= 0         ? gelu(values[x])
                     : slopeAt >= 0 ? slope(values[slopeAt])
                                    : stepOf(s, operand(s.operands[0]),
                                             operand(s.operands[1]),
                                             operand(s.operands[2])));
  }
  return values[program.result];
}

} // namespace mille
