// Elementary functions by range reduction and minimax polynomials (Chebyshev
// fits in 40 digits). Must keep a vector a vector: no round, floor or libm
// call.
//
// Halide lets LLVM reassociate, so error-free steps are marked strict_float;
// and it promises LLVM that there is no NaN, so NaN is tested by its bits.
#include "compiler/halide/Functions.h"

#include "compiler/halide/Polynomials.h"

using namespace Halide;

namespace mille {
namespace {

Expr powerOfTwo(const Expr &n) { return floatOf((n + 127) << 23); }

// x rounded to an integer; |x| < 192. A cast truncates and is one instruction.
Expr nearest(const Expr &x) { return cast<int32_t>(x + 192.5f) - 192; }

// p * 2^k where 2^k alone may be out of range.
Expr scaled(const Expr &p, const Expr &k) {
  Expr half = k >> 1;
  Expr first = strict_float(p * powerOfTwo(half));
  return strict_float(first * powerOfTwo(k - half));
}

// 2^f for |f| <= 1/2
Expr exp2Fraction(const Expr &f) {
  return horner(f, {1.0f, 0.693147182f, 0.240226507f, 0.0555035509f,
                    0.00961808022f, 0.0013392017f, 0.000154541616f});
}

// The same for a >= 0. Beyond 6 a parabola continues the fit, so that the tail
// falls to 0.
Expr log2Tail(const Expr &a) {
  Expr t = magnitude(a, 6.0f), d = a - t;
  return log2TailNear(t) + d * (-8.87713432f - 0.712055206f * d);
}

// x - n pi/2 in three steps, and n
std::pair<Expr, Expr> quadrantOf(const Expr &x) {
  Expr n = cast<int32_t>(x * 0.636619772f + select(x < 0.0f, -0.5f, 0.5f));
  Expr f = cast<float>(n);
  Expr r = strict_float(x - f * 1.5703125f);
  r = strict_float(r - f * 4.837512969970703125e-4f);
  return {strict_float(r - f * 7.549789948768648e-8f), n};
}

Expr sinOrCos(const Expr &x, int shift) {
  auto [r, n] = quadrantOf(x);
  Expr quadrant = n + shift, u = r * r;
  Expr sine = r + r * u *
                      horner(u, {-0.166666672f, 0.00833333191f, -0.00019840039f,
                                 2.72437819e-06f});
  Expr cosine =
      1.0f - 0.5f * u +
      u * u * horner(u, {0.0416666679f, -0.00138888881f, 2.48005599e-05f});
  Expr value = select((quadrant & 1) == 1, cosine, sine);
  return keepNan(x, floatOf(bitsOf(value) ^ shifted(quadrant & 2, 30)));
}

} // namespace

// At -127 the fraction is 0, and 1.0 with its exponent lowered by 127 is 0.
Expr exp2Weight(Expr x) { return exp2Near(max(x, -127.0f)); }

Expr exp2Coarse(Expr x) {
  return exp2By(max(x, -127.0f),
                {1.0f, 0.693282902f, 0.242210999f, 0.0550089329f});
}

// 2^(f + 1/2) is in [1, 2], so half of bf16's last place is always 2^-8; the
// first coefficient includes it. At -127.5 the fraction is 1/2, and 2.0 with
// its exponent lowered by 128 has no bit above bit 16.
Expr exp2Half(Expr x) {
  auto [n, f] = splitSum(max(x, -127.5f));
  Expr p = horner(f, {1.41801810f, 0.980419099f, 0.343104213f, 0.0780246332f});
  return reinterpret<uint32_t>(bitsOf(p) + (n << 23));
}

Expr expOf(Expr x) {
  Expr t = clamp(x, -104.0f, 89.0f);
  Expr k = nearest(t * 1.44269504f), n = cast<float>(k);
  Expr f = strict_float(t - n * 0.693359375f);
  f = strict_float(f - n * -2.12194440e-4f);
  Expr p = 1.0f + (f + f * f *
                           horner(f, {0.5f, 0.166665733f, 0.0416665487f,
                                      0.00836377405f, 0.00139269268f}));
  return keepNan(x, scaled(p, k));
}

Expr exp2Of(Expr x) {
  Expr t = clamp(x, -150.0f, 128.5f);
  Expr k = nearest(t), f = t - cast<float>(k);
  return keepNan(x, scaled(exp2Fraction(f), k));
}

Expr tanhOf(Expr x) {
  Expr u = x * x;
  Expr near = x + x * u *
                      horner(u, {-0.333333284f, 0.133327693f, -0.0538509078f,
                                 0.0209971797f, -0.00609671418f});
  // 1 - 2 / (e^2a + 1), 1 to the last bit from 9.1 on
  Expr t = magnitude(x, 9.5f) * 2.88539008f;
  Expr k = nearest(t), f = t - cast<float>(k);
  Expr e = floatOf(bitsOf(exp2Fraction(f)) + (k << 23));
  Expr far = 1.0f - 2.0f / (e + 1.0f);
  Expr sign = bitsOf(x) & Expr(int32_t(0x80000000));
  return keepNan(x, select(abs(x) < 0.625f, near, floatOf(bitsOf(far) | sign)));
}

Expr erfcOf(Expr x) {
  Expr w = 2.0f * exp2Weight(log2Tail(abs(x) * 1.41421354f));
  return keepNan(x, select(x < 0.0f, 2.0f - w, w));
}

Expr erfOf(Expr x) {
  Expr a = abs(x), u = x * x;
  Expr near =
      x * horner(u, {1.12837911f, -0.37612626f, 0.112835944f, -0.0268542115f,
                     0.00518908724f, -0.00080168643f, 7.87587487e-05f});
  Expr far = 1.0f - 2.0f * exp2Weight(log2Tail(a * 1.41421354f));
  Expr sign = bitsOf(x) & Expr(int32_t(0x80000000));
  return keepNan(x, select(a < 1.0f, near, floatOf(bitsOf(far) | sign)));
}

Expr logOf(Expr x) {
  const float infinity = std::numeric_limits<float>::infinity();
  Expr tiny = bitsOf(x) < 0x00800000;
  Expr bits = bitsOf(select(tiny, x * 8388608.0f, x));
  Expr e = (bits - 0x3f3504f3) >> 23; // of x over its mantissa in [sqrt 1/2, 2)
  Expr f = floatOf(bits - (e << 23)) - 1.0f;
  Expr n = cast<float>(e - select(tiny, 23, 0));
  Expr tail = f * f *
              (f * horner(f, {0.333333313f, -0.24999997f, 0.200007156f,
                              -0.166678026f, 0.142490581f, -0.124256872f,
                              0.116854198f, -0.114797339f, 0.0697161183f}) -
               0.5f);
  Expr low = strict_float(tail + n * -2.12194440e-4f);
  Expr value = strict_float(strict_float(f + low) + n * 0.693359375f);
  Expr zero = (bitsOf(x) & 0x7fffffff) == 0;
  Expr whole = bitsOf(x) >= 0x7f800000; // +inf, or NaN
  value = select(whole, x, bitsOf(x) < 0, floatOf(Expr(0x7fc00000)), value);
  return select(zero, -infinity, value);
}

Expr sinOf(Expr x) { return sinOrCos(x, 0); }
Expr cosOf(Expr x) { return sinOrCos(x, 1); }

} // namespace mille
