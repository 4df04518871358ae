// Evaluates scalar programs step by step, except formulas that have a quicker
// polynomial. Must give a NaN where a step does.
#include "compiler/halide/Scalars.h"

#include "compiler/halide/Functions.h"
#include "compiler/halide/Gelu.h"
#include "compiler/halide/OneRounding.h"
#include "compiler/halide/Polynomials.h"
#include "compiler/kernels/Formulas.h"

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

} // namespace

Expr evaluate(const ScalarProgram &program, const std::vector<Expr> &arguments,
              Element element, bool picks) {
  std::vector<Expr> values = arguments;
  auto operand = [&](int number) {
    return number < 0 ? Expr() : values[number];
  };
  const Formulas formulas(program);
  auto gelu = [&](const Expr &x) {
    if (picks)
      return isBf16(element) ? geluPickedForBf16(x) : geluPicked(x);
    return isBf16(element) ? geluForBf16(x) : geluOf(x);
  };
  auto slope = [&](const Expr &x) {
    return picks ? geluSlopePicked(x) : geluSlopeOf(x);
  };
  for (const ScalarStep &s : program.steps) {
    int x = formulas.geluOf(s), slopeAt = formulas.geluSlopeOf(s);
    values.push_back(x >= 0         ? gelu(values[x])
                     : slopeAt >= 0 ? slope(values[slopeAt])
                                    : stepOf(s, operand(s.operands[0]),
                                             operand(s.operands[1]),
                                             operand(s.operands[2])));
  }
  return values[program.result];
}

} // namespace mille
