// Arithmetic that rounds once and that LLVM does not reassociate, which it does
// differently in each loop. Must not be fused.
#pragma once
#include "Halide.h"

namespace mille {

// a op b with one rounding, never moved or fused: an epilogue must give the
// same bits in its main loop, in its tail and in the kernel of the other row
// class.
Halide::Expr oneRounding(Halide::Internal::Call::IntrinsicOp op,
                         const Halide::Expr &a, const Halide::Expr &b);
// The same of x + y, and of x y.
Halide::Expr added(const Halide::Expr &x, const Halide::Expr &y);
Halide::Expr multiplied(const Halide::Expr &x, const Halide::Expr &y);

} // namespace mille
