// Elementary functions on vectors as polynomials. Must not call libm: kernels
// link against nothing.
#pragma once
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

// 2^x for x <= 0, relative error 2.6e-7, exactly 0 from -127 down.
Halide::Expr exp2Weight(Halide::Expr x);

// 2^x for x <= 126, relative error 1.1e-4, exactly 0 from -127 down.
Halide::Expr exp2Coarse(Halide::Expr x);

// 2^(x + 1/2) for x <= -1/2 as bits whose upper half is its bf16, rounded:
// relative error 1.1e-4 before that. Exactly 0 from -127.5 down.
Halide::Expr exp2Half(Halide::Expr x);

} // namespace mille
