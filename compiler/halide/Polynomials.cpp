// Polynomials, the bits of floats, and other parts that elementary functions
// share.
// Must keep a vector a vector: no round, floor or libm call.
#include "compiler/halide/Polynomials.h"

#include "compiler/halide/OneRounding.h"

using namespace Halide;

namespace mille {

Expr horner(const Expr &x, std::initializer_list<float> coefficients) {
  Expr sum;
  for (auto c = coefficients.end(); c != coefficients.begin();)
    sum = sum.defined() ? sum * x + *--c : Expr(*--c);
  return sum;
}

Expr bitsOf(const Expr &x) { return reinterpret<int32_t>(x); }
Expr floatOf(const Expr &bits) { return reinterpret<float>(bits); }
// A shift that drops bits, also in OpenCL C, where signed numbers must not
// overflow.
Expr shifted(const Expr &bits, int by) {
  return reinterpret<int32_t>(reinterpret<uint32_t>(bits) << by);
}

Expr isNan(const Expr &x) { return (bitsOf(x) & 0x7fffffff) > 0x7f800000; }
Expr keepNan(const Expr &x, const Expr &y) { return select(isNan(x), x, y); }

// min(|x|, most), and `most` where x is NaN, by comparing bits, whose order is
// that of positive numbers. Halide finds no bounds through bits; otherwise it
// would carry four bounds through each product of a polynomial, which took most
// of the compile time.
Expr magnitude(const Expr &x, float most) {
  return floatOf(min(bitsOf(x) & 0x7fffffff, bitsOf(Expr(most))));
}

// log2 Phi(-t) for t in [0, 6], the normal distribution's tail
Expr log2TailNear(const Expr &t) {
  return horner(t, {-0.999999523f, -1.1511234f, -0.459095031f, -0.0527594723f,
                    0.00735208998f, -0.000293278717f, -0.000151872766f,
                    4.23656275e-05f, -5.52579831e-06f, 3.82261135e-07f,
                    -1.12357252e-08f});
}

// x rounded to units of shifter's last place, in the last bits of n = x +
// shifter; and the rest of x.
std::pair<Expr, Expr> splitBy(const Expr &x, float shifter) {
  Expr n = oneRounding(Internal::Call::strict_add, x, shifter);
  Expr f = oneRounding(Internal::Call::strict_sub, x,
                       oneRounding(Internal::Call::strict_sub, n, shifter));
  return {bitsOf(n), f};
}

// The same for integers: x is in the last bits of x + 1.5 * 2^23.
std::pair<Expr, Expr> splitSum(const Expr &x) {
  return splitBy(x, 12582912.0f);
}

// 2^x for x from -127 on, where 2^f is a polynomial of these for |f| <= 1/2.
Expr exp2By(const Expr &x, std::initializer_list<float> coefficients) {
  auto [n, f] = splitSum(x);
  return floatOf(bitsOf(horner(f, coefficients)) + shifted(n, 23));
}

// 2^x for x from -127 to 0.
Expr exp2Near(const Expr &x) {
  return exp2By(x, {1.0f, 0.693147182f, 0.240223363f, 0.0555037968f,
                    0.00966734067f, 0.00133822637f});
}

} // namespace mille
