// Polynomials, the bits of floats, and other parts that elementary functions
// share.
// Must be included by elementary functions only.
#pragma once
#include "Halide.h"

namespace mille {

// The polynomial of x whose coefficients these are, the constant one first.
Halide::Expr horner(const Halide::Expr &x,
                    std::initializer_list<float> coefficients);

Halide::Expr bitsOf(const Halide::Expr &x);
Halide::Expr floatOf(const Halide::Expr &bits);
// A shift that drops bits, also in OpenCL C.
Halide::Expr shifted(const Halide::Expr &bits, int by);

Halide::Expr isNan(const Halide::Expr &x);
// y, and x where that is NaN.
Halide::Expr keepNan(const Halide::Expr &x, const Halide::Expr &y);
// min(|x|, most), and `most` of a NaN.
Halide::Expr magnitude(const Halide::Expr &x, float most);

// x rounded to units of shifter's last place, in the last bits of n = x +
// shifter; and the rest of x.
std::pair<Halide::Expr, Halide::Expr> splitBy(const Halide::Expr &x,
                                              float shifter);
// x rounded to an integer, which is in the last bits of n; and the rest of x.
std::pair<Halide::Expr, Halide::Expr> splitSum(const Halide::Expr &x);

// 2^x for x from -127 on, where 2^f is a polynomial of these for |f| <= 1/2.
Halide::Expr exp2By(const Halide::Expr &x,
                    std::initializer_list<float> coefficients);
// The same for x up to 0, to a float's accuracy.
Halide::Expr exp2Near(const Halide::Expr &x);

// log2 Phi(-t) for t in [0, 6], the normal distribution's tail.
Halide::Expr log2TailNear(const Halide::Expr &t);

} // namespace mille
