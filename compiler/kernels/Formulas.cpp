// Finds formulas by their steps.
#include "compiler/kernels/Formulas.h"

#include <cmath>

namespace mille {

// The step that gives a value, if it is of this kind.
const ScalarStep *Formulas::step(int value, ScalarOp op) const {
  if (value < program.arguments)
    return nullptr;
  const ScalarStep &s = program.steps[value - program.arguments];
  return s.op == op ? &s : nullptr;
}

// The x of c * x or x * c, or -1.
int Formulas::scaledBy(int value, double c) const {
  const ScalarStep *product = step(value, ScalarOp::mul);
  for (int i = 0; product && i < 2; ++i) {
    const ScalarStep *factor = step(product->operands[i], ScalarOp::constant);
    if (factor && std::abs(factor->value - c) < 1e-7)
      return product->operands[1 - i];
  }
  return -1;
}

int Formulas::geluOf(const ScalarStep &s) const {
  for (int i = 0; s.op == ScalarOp::mul && i < 2; ++i) {
    const ScalarStep *tail = step(s.operands[i], ScalarOp::erfc);
    int x = scaledBy(s.operands[1 - i], 0.5);
    if (tail && x >= 0 &&
        scaledBy(tail->operands[0], -0.70710678118654752) == x)
      return x;
  }
  return -1;
}

int Formulas::geluSlopeOf(const ScalarStep &s) const {
  constexpr double d = -0.70710678118654752, c = -1.1283791670955126;
  if (s.op != ScalarOp::add)
    return -1;
  for (int i = 0; i < 2; ++i) {
    const ScalarStep *tail = step(scaledBy(s.operands[i], 0.5), ScalarOp::erfc);
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

// Whether a value is exp(-t t).
bool Formulas::isBell(int value, int t) const {
  const ScalarStep *exp = step(value, ScalarOp::exp);
  const ScalarStep *square =
      exp ? step(scaledBy(exp->operands[0], -1), ScalarOp::mul) : nullptr;
  return square && square->operands[0] == t && square->operands[1] == t;
}

} // namespace mille
