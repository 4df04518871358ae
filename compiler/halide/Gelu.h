// GELU on vectors, for an epilogue: with the accuracy of f32 and of bf16, and
// for machines that pick. Must not call libm.
#pragma once
#include "Halide.h"

namespace mille {

// GELU: relative 3e-6 above -6, absolute 6e-9 below; and to a bf16's accuracy:
// relative 1.2e-4 above -2, absolute 4.3e-5. Minus infinity gives almost 0.
Halide::Expr geluOf(const Halide::Expr &x);
Halide::Expr geluForBf16(const Halide::Expr &x);

// The same on machines that pick: relative 4e-6 above -5.9, absolute 6e-9
// below; and relative 2.1e-4 above -2, absolute 2.1e-5.
Halide::Expr geluPicked(const Halide::Expr &x);
Halide::Expr geluPickedForBf16(const Halide::Expr &x);

// The derivative of GELU, 0 and 1 at the infinities; on machines that pick:
// absolute 9e-8.
Halide::Expr geluSlopeOf(const Halide::Expr &x);
Halide::Expr geluSlopePicked(const Halide::Expr &x);

} // namespace mille
