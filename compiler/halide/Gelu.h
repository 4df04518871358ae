// GELU on vectors, for an epilogue: with the accuracy of f32 and of bf16, and
// for machines that pick. Must not call libm.
#pragma once
#include "Halide.h"

namespace mille {

// GELU of x = 2 h: relative 3e-6 above x = -6, absolute 6e-9 below; and to a
// bf16's accuracy: relative 1.2e-4 above x = -2, absolute 4.3e-5.
Halide::Expr geluOfTwice(Halide::Expr h);
Halide::Expr geluOfTwiceForBf16(Halide::Expr h);

// The same on machines that pick: relative 4e-6 above x = -5.9, absolute 6e-9
// below; and relative 2.1e-4 above x = -2, absolute 2.1e-5. Minus infinity
// gives almost 0.
Halide::Expr geluPicked(Halide::Expr x);
Halide::Expr geluPickedForBf16(Halide::Expr x);

// The derivative of GELU on machines that pick: absolute 9e-8.
Halide::Expr geluSlopePicked(const Halide::Expr &x);

} // namespace mille
