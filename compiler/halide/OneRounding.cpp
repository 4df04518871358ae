// Arithmetic that rounds once, by Halide's strict intrinsics.
// Must not fold constants.
#include "compiler/halide/OneRounding.h"

using namespace Halide;

namespace mille {

Expr oneRounding(Internal::Call::IntrinsicOp op, const Expr &a, const Expr &b) {
  bool compares = op == Internal::Call::strict_eq ||
                  op == Internal::Call::strict_lt ||
                  op == Internal::Call::strict_le;
  return Internal::Call::make(compares ? Bool() : a.type(), op, {a, b},
                              Internal::Call::PureIntrinsic);
}
Expr added(const Expr &x, const Expr &y) {
  return oneRounding(Internal::Call::strict_add, x, y);
}
Expr multiplied(const Expr &x, const Expr &y) {
  return oneRounding(Internal::Call::strict_mul, x, y);
}

} // namespace mille
