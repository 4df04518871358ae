// Elementary functions on vectors as polynomials, and scalar programs made of
// them. Must not call libm: kernels link against nothing.
#pragma once
#include "compiler/halide/Spec.h"

#include "Halide.h"

namespace mille {

// Worst errors against double (test/compiler/halide/FunctionsTest.cpp holds
// them): exp 1.0 ulp, exp2 1.1, tanh 1.6, erf 2.4, log 0.9, sin and cos 1.4
// near 0; erfc relative 4.2e-7 up to 0, 1.1e-6 to 2, 4e-6 to 4.2, 2e-2 beyond
// (under 3e-9 there). NaN in, NaN out; infinities and underflow as in C.
Halide::Expr expOf(Halide::Expr x);
Halide::Expr exp2Of(Halide::Expr x);
Halide::Expr tanhOf(Halide::Expr x);
Halide::Expr erfOf(Halide::Expr x);
Halide::Expr erfcOf(Halide::Expr x);
Halide::Expr logOf(Halide::Expr x);
Halide::Expr sinOf(Halide::Expr x);
Halide::Expr cosOf(Halide::Expr x);

// GELU of x = 2 h: relative 3e-6 above x = -6, absolute 6e-9 below; and to a
// bf16's accuracy: relative 1.2e-4 above x = -2, absolute 4.3e-5.
Halide::Expr geluOfTwice(Halide::Expr h);
Halide::Expr geluOfTwiceForBf16(Halide::Expr h);

// The same on machines that pick: relative 4e-6 above x = -5.9, absolute 6e-9
// below; and relative 2.1e-4 above x = -2, absolute 2.1e-5. Of minus infinity
// next to nothing.
Halide::Expr geluPicked(Halide::Expr x);
Halide::Expr geluPickedForBf16(Halide::Expr x);

// 2^x for x <= 0, relative error 2.6e-7, exactly 0 from -127 down.
Halide::Expr exp2Weight(Halide::Expr x);

// 2^x for x <= 126, relative error 1.1e-4, exactly 0 from -127 down.
Halide::Expr exp2Coarse(Halide::Expr x);

// 2^(x + 1/2) for x <= -1/2 as bits whose upper half is its bf16, rounded:
// relative error 1.1e-4 before that. Exactly 0 from -127.5 down.
Halide::Expr exp2Half(Halide::Expr x);

// a op b with one rounding, never moved or fused: what follows a tile must give
// the same bits in its main loop, its tail and the tile of the other row class.
Halide::Expr oneRounding(Halide::Internal::Call::IntrinsicOp op,
                         const Halide::Expr &a, const Halide::Expr &b);
// The same of x + y, and of x y.
Halide::Expr added(const Halide::Expr &x, const Halide::Expr &y);
Halide::Expr multiplied(const Halide::Expr &x, const Halide::Expr &y);

// The value of a program on f32 arguments, for an out of `element`, on machines
// that pick or do not.
Halide::Expr evaluate(const ScalarProgram &program,
                      const std::vector<Halide::Expr> &arguments,
                      Element element, bool picks);

} // namespace mille
