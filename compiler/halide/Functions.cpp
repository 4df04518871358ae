// Elementary functions by range reduction and minimax polynomials (Chebyshev
// fits in 40 digits). Must keep a vector a vector: no round, floor or libm call.
//
// Halide lets LLVM reassociate, so an error-free step is marked strict_float;
// and it promises LLVM that there is no NaN, so NaN is looked for in the bits.
#include "compiler/halide/Functions.h"

using namespace Halide;

namespace mille {
namespace {

Expr horner(const Expr &x, std::initializer_list<float> coefficients) {
  Expr sum;
  for (auto c = coefficients.end(); c != coefficients.begin();)
    sum = sum.defined() ? sum * x + *--c : Expr(*--c);
  return sum;
}

Expr bitsOf(const Expr &x) { return reinterpret<int32_t>(x); }
Expr floatOf(const Expr &bits) { return reinterpret<float>(bits); }
// Bits that are shifted out are lost, also in OpenCL C, where signed numbers must
// not overflow.
Expr shifted(const Expr &bits, int by) {
  return reinterpret<int32_t>(reinterpret<uint32_t>(bits) << by);
}
Expr powerOfTwo(const Expr &n) { return floatOf((n + 127) << 23); }

Expr isNan(const Expr &x) { return (bitsOf(x) & 0x7fffffff) > 0x7f800000; }
Expr keepNan(const Expr &x, const Expr &y) { return select(isNan(x), x, y); }

// x rounded to an integer; |x| < 192. A cast truncates and is one instruction.
Expr nearest(const Expr &x) { return cast<int32_t>(x + 192.5f) - 192; }

// min(|x|, most), and `most` of a NaN: of positive numbers the bits are in the same
// order. Halide does not look through bits for bounds, which it would carry through
// a polynomial's every product as four: most of the time of compiling.
Expr magnitude(const Expr &x, float most) {
  return floatOf(min(bitsOf(x) & 0x7fffffff, bitsOf(Expr(most))));
}

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

// log2 Phi(-t) for t in [0, 6], the normal distribution's tail
Expr log2TailNear(const Expr &t) {
  return horner(t, {-0.999999523f, -1.1511234f, -0.459095031f, -0.0527594723f,
                    0.00735208998f, -0.000293278717f, -0.000151872766f,
                    4.23656275e-05f, -5.52579831e-06f, 3.82261135e-07f,
                    -1.12357252e-08f});
}

// The same for t >= 0. Beyond 6 the fit is continued by a parabola, so that the
// tail goes on falling to 0.
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
  Expr sine = r + r * u * horner(u, {-0.166666672f, 0.00833333191f,
                                     -0.00019840039f, 2.72437819e-06f});
  Expr cosine = 1.0f - 0.5f * u + u * u * horner(u, {0.0416666679f,
                                     -0.00138888881f, 2.48005599e-05f});
  Expr value = select((quadrant & 1) == 1, cosine, sine);
  return keepNan(x, floatOf(bitsOf(value) ^ shifted(quadrant & 2, 30)));
}

} // namespace

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

namespace {

// x rounded to an integer, in the last bits of n = x + 1.5 * 2^23, and what is left.
std::pair<Expr, Expr> splitSum(const Expr &x) {
  constexpr float shifter = 12582912.0f;
  Expr n = oneRounding(Internal::Call::strict_add, x, shifter);
  Expr f = oneRounding(Internal::Call::strict_sub, x,
                       oneRounding(Internal::Call::strict_sub, n, shifter));
  return {bitsOf(n), f};
}

// 2^x for x from -127 on, where 2^f is a polynomial of these for |f| <= 1/2.
Expr exp2By(const Expr &x, std::initializer_list<float> coefficients) {
  auto [n, f] = splitSum(x);
  return floatOf(bitsOf(horner(f, coefficients)) + shifted(n, 23));
}

// 2^x for x from -127 to 0.
Expr exp2Near(const Expr &x) {
  return exp2By(x, {1.0f, 0.693147182f, 0.240223363f, 0.0555037968f, 0.00966734067f,
                    0.00133822637f});
}

} // namespace

// At -127 the fraction is 0, and 1.0 less 127 exponents is 0.
Expr exp2Weight(Expr x) { return exp2Near(max(x, -127.0f)); }

Expr exp2Coarse(Expr x) {
  return exp2By(max(x, -127.0f), {1.0f, 0.693282902f, 0.242210999f, 0.0550089329f});
}

// 2^(f + 1/2) is in [1, 2], so that half of bf16's last place is 2^-8 throughout: it
// is in the first coefficient. At -127.5 the fraction is 1/2, and 2.0 less 128
// exponents is nothing above bit 16.
Expr exp2Half(Expr x) {
  auto [n, f] = splitSum(max(x, -127.5f));
  Expr p = horner(f, {1.41801810f, 0.980419099f, 0.343104213f, 0.0780246332f});
  return reinterpret<uint32_t>(bitsOf(p) + (n << 23));
}

namespace {

// x Phi(x) = max(x, 0) - t Phi(-t) with t = |x|, up to where the last term is
// nothing, and of a NaN a NaN: the maximum is x/2 + |x/2|.
Expr geluBy(const Expr &x, const Expr &t, const Expr &phi) {
  Expr half = oneRounding(Internal::Call::strict_mul, x, 0.5f);
  return oneRounding(Internal::Call::strict_add, half, abs(half)) - t * phi;
}

} // namespace

// The term is under 6e-9 beyond 6.
Expr geluOf(Expr x) {
  Expr t = magnitude(x, 6.0f);
  return geluBy(x, t, exp2Near(log2TailNear(t)));
}

// Phi(-t) itself as a polynomial for t in [0, 4.25]. Its even and its odd powers:
// half as many multiply-adds wait for each other.
Expr geluForBf16(Expr x) {
  Expr t = magnitude(x, 4.25f), u = t * t;
  Expr phi = horner(u, {0.500017941f, 0.00918362662f, 0.03923871f, 0.0169893783f,
                        0.000354232325f}) +
             t * horner(u, {-0.400195926f, 0.0401330143f, -0.0436593555f,
                            -0.00340301637f, -1.52627072e-05f});
  return geluBy(x, t, phi);
}

Expr expOf(Expr x) {
  Expr t = clamp(x, -104.0f, 89.0f);
  Expr k = nearest(t * 1.44269504f), n = cast<float>(k);
  Expr f = strict_float(t - n * 0.693359375f);
  f = strict_float(f - n * -2.12194440e-4f);
  Expr p = 1.0f + (f + f * f * horner(f, {0.5f, 0.166665733f, 0.0416665487f,
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
  Expr near = x + x * u * horner(u, {-0.333333284f, 0.133327693f,
                                     -0.0538509078f, 0.0209971797f,
                                     -0.00609671418f});
  // 1 - 2 / (e^2a + 1), 1 to the last bit from 9.1 on
  Expr t = magnitude(x, 9.5f) * 2.88539008f;
  Expr k = nearest(t), f = t - cast<float>(k);
  Expr e = floatOf(bitsOf(exp2Fraction(f)) + (k << 23));
  Expr far = 1.0f - 2.0f / (e + 1.0f);
  Expr sign = bitsOf(x) & Expr(int32_t(0x80000000));
  return keepNan(x, select(abs(x) < 0.625f, near, floatOf(bitsOf(far) | sign)));
}

Expr erfcOf(Expr x) {
  Expr w = 2.0f * exp2Weight(log2Tail(abs(x) * 1.41421356f));
  return keepNan(x, select(x < 0.0f, 2.0f - w, w));
}

Expr erfOf(Expr x) {
  Expr a = abs(x), u = x * x;
  Expr near = x * horner(u, {1.12837911f, -0.37612626f, 0.112835944f,
                             -0.0268542115f, 0.00518908724f, -0.00080168643f,
                             7.87587487e-05f});
  Expr far = 1.0f - 2.0f * exp2Weight(log2Tail(a * 1.41421356f));
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
  Expr tail = f * f * (f * horner(f, {0.333333313f, -0.24999997f, 0.200007156f,
                                      -0.166678026f, 0.142490581f,
                                      -0.124256872f, 0.116854198f,
                                      -0.114797339f, 0.0697161183f}) - 0.5f);
  Expr low = strict_float(tail + n * -2.12194440e-4f);
  Expr value = strict_float(strict_float(f + low) + n * 0.693359375f);
  Expr zero = (bitsOf(x) & 0x7fffffff) == 0;
  Expr whole = bitsOf(x) >= 0x7f800000; // +inf, or NaN
  value = select(whole, x, bitsOf(x) < 0, floatOf(Expr(0x7fc00000)), value);
  return select(zero, -infinity, value);
}

Expr sinOf(Expr x) { return sinOrCos(x, 0); }
Expr cosOf(Expr x) { return sinOrCos(x, 1); }

namespace {

Expr compared(Comparison comparison, const Expr &a, const Expr &b) {
  using C = Internal::Call;
  switch (comparison) {
  case Comparison::eq: return oneRounding(C::strict_eq, a, b);
  case Comparison::gt: return oneRounding(C::strict_lt, b, a);
  case Comparison::ge: return oneRounding(C::strict_le, b, a);
  case Comparison::lt: return oneRounding(C::strict_lt, a, b);
  case Comparison::le: return oneRounding(C::strict_le, a, b);
  case Comparison::ne: return !oneRounding(C::strict_eq, a, b);
  }
  return {};
}

// A NaN of either side goes through; constants are none.
Expr keepNans(const Expr &a, const Expr &b, Expr value) {
  for (const Expr &side : {a, b})
    if (!Internal::is_const(side))
      value = keepNan(side, value);
  return value;
}

// The other side where one is NaN.
Expr dropNans(const Expr &a, const Expr &b, Expr value) {
  if (!Internal::is_const(a))
    value = select(isNan(a), b, value);
  return Internal::is_const(b) ? value : select(isNan(b), a, value);
}

Expr stepOf(const ScalarStep &s, const Expr &a, const Expr &b, const Expr &c) {
  using C = Internal::Call;
  switch (s.op) {
  case ScalarOp::constant: return Expr(float(s.value));
  case ScalarOp::add: return oneRounding(C::strict_add, a, b);
  case ScalarOp::sub: return oneRounding(C::strict_sub, a, b);
  case ScalarOp::mul: return oneRounding(C::strict_mul, a, b);
  case ScalarOp::div: return oneRounding(C::strict_div, a, b);
  case ScalarOp::neg: return -a;
  case ScalarOp::maximum: return keepNans(a, b, max(a, b));
  case ScalarOp::minimum: return keepNans(a, b, min(a, b));
  case ScalarOp::maxnum: return dropNans(a, b, max(a, b));
  case ScalarOp::minnum: return dropNans(a, b, min(a, b));
  case ScalarOp::compare: return compared(s.comparison, a, b);
  case ScalarOp::select: return select(a, b, c);
  case ScalarOp::exp: return expOf(a);
  case ScalarOp::exp2: return exp2Of(a);
  case ScalarOp::tanh: return tanhOf(a);
  case ScalarOp::erf: return erfOf(a);
  case ScalarOp::erfc: return erfcOf(a);
  case ScalarOp::sqrt: return sqrt(a);
  case ScalarOp::rsqrt: return 1.0f / sqrt(a);
  case ScalarOp::abs: return abs(a);
  case ScalarOp::log: return logOf(a);
  case ScalarOp::sin: return sinOf(a);
  case ScalarOp::cos: return cosOf(a);
  case ScalarOp::fma: return a * b + c; // fused where the machine can
  }
  return {};
}

} // namespace

namespace {

// Finds formulas that have a quicker polynomial of their own.
struct Matcher {
  const ScalarProgram &program;

  const ScalarStep *step(int value, ScalarOp op) const {
    if (value < program.arguments)
      return nullptr;
    const ScalarStep &s = program.steps[value - program.arguments];
    return s.op == op ? &s : nullptr;
  }

  // The x of c * x or x * c, or -1.
  int scaledBy(int value, double c) const {
    const ScalarStep *product = step(value, ScalarOp::mul);
    for (int i = 0; product && i < 2; ++i) {
      const ScalarStep *factor = step(product->operands[i], ScalarOp::constant);
      if (factor && std::abs(factor->value - c) < 1e-7)
        return product->operands[1 - i];
    }
    return -1;
  }

  // The x of 0.5 x erfc(-x / sqrt 2), however its products stand, or -1.
  int geluOf(const ScalarStep &s) const {
    for (int i = 0; s.op == ScalarOp::mul && i < 2; ++i) {
      const ScalarStep *tail = step(s.operands[i], ScalarOp::erfc);
      int x = scaledBy(s.operands[1 - i], 0.5);
      if (tail && x >= 0 && scaledBy(tail->operands[0], -0.70710678118654752) == x)
        return x;
    }
    return -1;
  }
};

} // namespace

Expr evaluate(const ScalarProgram &program, const std::vector<Expr> &arguments,
              Element element) {
  std::vector<Expr> values = arguments;
  auto operand = [&](int number) { return number < 0 ? Expr() : values[number]; };
  for (const ScalarStep &s : program.steps) {
    int x = Matcher{program}.geluOf(s);
    const auto gelu = isBf16(element) ? geluForBf16 : geluOf;
    values.push_back(x >= 0 ? gelu(values[x])
                            : stepOf(s, operand(s.operands[0]),
                                     operand(s.operands[1]), operand(s.operands[2])));
  }
  return values[program.result];
}

} // namespace mille
