// Elementary functions by range reduction and minimax polynomials (Chebyshev
// fits in 40 digits). Must keep a vector a vector: no round, floor or libm
// call.
//
// Halide lets LLVM reassociate, so an error-free step is marked strict_float;
// and it promises LLVM that there is no NaN, so NaN is looked for in the bits.
#include "compiler/halide/Functions.h"

#include "compiler/halide/instructions/PickInstruction.h"

#include <algorithm>

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
// Bits that are shifted out are lost, also in OpenCL C, where signed numbers
// must not overflow.
Expr shifted(const Expr &bits, int by) {
  return reinterpret<int32_t>(reinterpret<uint32_t>(bits) << by);
}
Expr powerOfTwo(const Expr &n) { return floatOf((n + 127) << 23); }

Expr isNan(const Expr &x) { return (bitsOf(x) & 0x7fffffff) > 0x7f800000; }
Expr keepNan(const Expr &x, const Expr &y) { return select(isNan(x), x, y); }

// x rounded to an integer; |x| < 192. A cast truncates and is one instruction.
Expr nearest(const Expr &x) { return cast<int32_t>(x + 192.5f) - 192; }

// min(|x|, most), and `most` of a NaN: of positive numbers the bits are in the
// same order. Halide does not look through bits for bounds, which it would
// carry through a polynomial's every product as four: most of the time of
// compiling.
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

// log2 Phi(-2 t) for t in [0, 3], the normal distribution's tail
Expr log2TailNear(const Expr &t) {
  return horner(t,
                {-0.999999523f, -2.30224681f, -1.83638012f, -0.422075778f,
                 0.11763344f, -0.00938491896f, -0.00971985701f, 0.00542280031f,
                 -0.00141460437f, 0.000195717701f, -1.15053826e-05f});
}

// The same for t >= 0. Beyond 3 the fit is continued by a parabola, so that the
// tail goes on falling to 0.
Expr log2Tail(const Expr &a) {
  Expr t = magnitude(a, 3.0f), d = a - t;
  return log2TailNear(t) + d * (-17.7542686f - 2.84822083f * d);
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

// x rounded to units of shifter's last place, in the last bits of n = x +
// shifter; and what is left of x.
std::pair<Expr, Expr> splitBy(const Expr &x, float shifter) {
  Expr n = oneRounding(Internal::Call::strict_add, x, shifter);
  Expr f = oneRounding(Internal::Call::strict_sub, x,
                       oneRounding(Internal::Call::strict_sub, n, shifter));
  return {bitsOf(n), f};
}

// The same of integers: x, and `more`, are in the last bits of x + 1.5 * 2^23 +
// more.
std::pair<Expr, Expr> splitSum(const Expr &x, int more = 0) {
  return splitBy(x, 12582912.0f + float(more));
}

// 2^(x + more) for x from -127 on, where 2^f is a polynomial of these for |f|
// <= 1/2.
Expr exp2By(const Expr &x, std::initializer_list<float> coefficients,
            int more = 0) {
  auto [n, f] = splitSum(x, more);
  return floatOf(bitsOf(horner(f, coefficients)) + shifted(n, 23));
}

// 2^(x + more) for x from -127 to 0.
Expr exp2Near(const Expr &x, int more = 0) {
  return exp2By(x,
                {1.0f, 0.693147182f, 0.240223363f, 0.0555037968f,
                 0.00966734067f, 0.00133822637f},
                more);
}

} // namespace

// At -127 the fraction is 0, and 1.0 less 127 exponents is 0.
Expr exp2Weight(Expr x) { return exp2Near(max(x, -127.0f)); }

Expr exp2Coarse(Expr x) {
  return exp2By(max(x, -127.0f),
                {1.0f, 0.693282902f, 0.242210999f, 0.0550089329f});
}

// 2^(f + 1/2) is in [1, 2], so that half of bf16's last place is 2^-8
// throughout: it is in the first coefficient. At -127.5 the fraction is 1/2,
// and 2.0 less 128 exponents is nothing above bit 16.
Expr exp2Half(Expr x) {
  auto [n, f] = splitSum(max(x, -127.5f));
  Expr p = horner(f, {1.41801810f, 0.980419099f, 0.343104213f, 0.0780246332f});
  return reinterpret<uint32_t>(bitsOf(p) + (n << 23));
}

namespace {

// x Phi(x) = max(x, 0) - |x| Phi(-|x|) of x = 2 h, where the last term is taken
// at t, |h| up to where it is nothing, and 2 Phi(-2 t) is `twice`; of a NaN a
// NaN. In halves because the maximum is h + |h|, which an epilogue's scale and
// bias give as soon as x.
Expr geluBy(const Expr &h, const Expr &t, const Expr &twice) {
  return added(h, abs(h)) - t * twice;
}

} // namespace

// The term is under 6e-9 beyond x = 6.
Expr geluOfTwice(Expr h) {
  Expr t = magnitude(h, 3.0f);
  return geluBy(h, t, exp2Near(log2TailNear(t), 1));
}

// 2 Phi(-2 t) itself as a polynomial for t in [0, 2.125]. Its even and its odd
// powers: half as many multiply-adds wait for each other.
Expr geluOfTwiceForBf16(Expr h) {
  Expr t = magnitude(h, 2.125f), u = t * t;
  Expr twice = horner(u, {1.00003588f, 0.073469013f, 1.25563872f, 2.17464042f,
                          0.18136695f}) +
               t * horner(u, {-1.60078371f, 0.642128229f, -2.79419875f,
                              -0.87117219f, -0.0156290121f});
  return geluBy(h, t, twice);
}

namespace {

// t Phi(-t) as a cubic on each of 14 stretches of t, as long as the function
// bends little: of t + 1/2 the last two bits of the exponent and the first two
// of the mantissa number them, from 8 where t is 0.
constexpr int firstStretch = 8;
constexpr float lastOfStretches = 5.5f - 0x1p-21f;
constexpr Sixteen tailCubics[] = {
    {0.0f, -6.592292e-05f, -0.0005152045f, -0.0017414121f, -0.00482048f,
     -0.006007309f, 0.015065816f, 0.08206877f, 0.27624288f, 0.54566306f,
     0.56698096f, 0.36539894f, 0.099645734f, 0.0050777667f},
    {0.50001734f, 0.50151885f, 0.50686353f, 0.5166709f, 0.53446263f, 0.5404366f,
     0.47881034f, 0.3193463f, -0.05451531f, -0.46422064f, -0.49545243f,
     -0.29458588f, -0.0690594f, -0.0029083788f},
    {-0.3999059f, -0.41183782f, -0.43326065f, -0.45953125f, -0.49395475f,
     -0.5036074f, -0.44341946f, -0.31671268f, -0.0762587f, 0.13188967f,
     0.14667226f, 0.0798849f, 0.015991049f, 0.0005554299f},
    {0.014754641f, 0.047957484f, 0.076892674f, 0.10045983f, 0.12276847f,
     0.12783359f, 0.10819952f, 0.07458578f, 0.022916498f, -0.012409292f,
     -0.014689843f, -0.007279905f, -0.0012366404f, -3.5363522e-05f}};

Expr pickedBy(const Expr &stretch, Sixteen numbers) {
  std::rotate(numbers.begin(), numbers.end() - firstStretch, numbers.end());
  return pickOf(numbers, stretch);
}

// A polynomial whose coefficients of each power are picked.
template <size_t powers>
Expr pickedHorner(const Expr &x, const Expr &index,
                  const Sixteen (&coefficients)[powers]) {
  Expr sum = pickOf(coefficients[powers - 1], index);
  for (size_t power = powers - 1; power-- > 0;)
    sum = sum * x + pickOf(coefficients[power], index);
  return sum;
}

// log2 Phi(-t) on 12 stretches of 1/2.
constexpr Sixteen log2TailQuartics[] = {
    {-1.0f, -1.0001125f, -1.0016478f, -1.0077623f, -1.0216835f, -1.0451074f,
     -1.0780259f, -1.1193044f, -1.1673225f, -1.2204006f, -1.2770289f,
     -1.335949f},
    {-1.1511024f, -1.1503251f, -1.1443878f, -1.1282417f, -1.1004705f,
     -1.0629901f, -1.0190538f, -0.97181314f, -0.92372584f, -0.8764784f,
     -0.8311157f, -0.788214f},
    {-0.45924956f, -0.46131337f, -0.4700237f, -0.48610327f, -0.50694627f,
     -0.52948284f, -0.5515056f, -0.5718012f, -0.5898748f, -0.6056563f,
     -0.6192902f, -0.6310098f},
    {-0.052297223f, -0.049777552f, -0.044027206f, -0.036869016f, -0.029893674f,
     -0.023858415f, -0.01894514f, -0.015065735f, -0.012044166f, -0.009699861f,
     -0.007877721f, -0.006454205f},
    {0.0066991104f, 0.0054957196f, 0.004053771f, 0.0028518492f, 0.0019736034f,
     0.0013662527f, 0.00095460337f, 0.0006762342f, 0.00048664972f,
     0.00035597544f, 0.0002646059f, 0.00019973854f}};

// 2^(i / 16 + f) for |f| <= 1/32.
constexpr Sixteen exp2Quadratics[] = {
    {1.0f, 1.0442737f, 1.0905077f, 1.1387887f, 1.1892071f, 1.2418578f,
     1.2968396f, 1.3542556f, 1.4142135f, 1.4768262f, 1.5422108f, 1.6104903f,
     1.6817929f, 1.7562522f, 1.8340081f, 1.9152066f},
    {0.69318783f, 0.7238779f, 0.75592667f, 0.78939444f, 0.8243439f, 0.86084074f,
     0.8989534f, 0.9387535f, 0.9803156f, 1.0237179f, 1.0690417f, 1.1163723f,
     1.1657983f, 1.2174126f, 1.2713121f, 1.3275979f},
    {0.24021712f, 0.25085244f, 0.26195863f, 0.27355653f, 0.2856679f, 0.2983155f,
     0.31152305f, 0.32531536f, 0.3397183f, 0.35475892f, 0.37046543f,
     0.38686734f, 0.40399542f, 0.42188182f, 0.44056013f, 0.4600654f}};

// 2^x for x from -126 to 0. The sixteenths of x are the last bits of x + 1.5 *
// 2^19.
Expr exp2Picked(const Expr &x) {
  auto [sixteenths, f] = splitBy(x, 786432.0f);
  Expr whole = shifted(sixteenths >> 4, 23);
  return floatOf(bitsOf(pickedHorner(f, sixteenths, exp2Quadratics)) + whole);
}

Expr positive(const Expr &x) {
  return select(oneRounding(Internal::Call::strict_lt, x, 0.0f), 0.0f, x);
}

} // namespace

// max(x, 0) - t Phi(-t), as a power of two. Seven multiplications where the
// polynomials take sixteen; of a NaN a NaN.
Expr geluPicked(Expr x) {
  Expr t = magnitude(x, 6.0f - 0x1p-20f);
  Expr stretch = bitsOf(oneRounding(Internal::Call::strict_add, t, 8.0f)) >> 19;
  return positive(x) -
         t * exp2Picked(pickedHorner(t, stretch, log2TailQuartics));
}

// The same to a bf16's accuracy: three multiplications where the polynomials
// take eleven.
Expr geluPickedForBf16(Expr x) {
  Expr t = magnitude(x, lastOfStretches);
  Expr stretch = bitsOf(oneRounding(Internal::Call::strict_add, t, 0.5f)) >> 21;
  auto coefficient = [&](int power) {
    return pickedBy(stretch, tailCubics[power]);
  };
  Expr sum = coefficient(3) * t + coefficient(2);
  sum = sum * t + coefficient(1);
  return added(positive(x), -coefficient(0)) - sum * t;
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
  Expr w = 2.0f * exp2Weight(log2Tail(abs(x) * 0.707106769f));
  return keepNan(x, select(x < 0.0f, 2.0f - w, w));
}

Expr erfOf(Expr x) {
  Expr a = abs(x), u = x * x;
  Expr near =
      x * horner(u, {1.12837911f, -0.37612626f, 0.112835944f, -0.0268542115f,
                     0.00518908724f, -0.00080168643f, 7.87587487e-05f});
  Expr far = 1.0f - 2.0f * exp2Weight(log2Tail(a * 0.707106769f));
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

namespace {

Expr compared(Comparison comparison, const Expr &a, const Expr &b) {
  using C = Internal::Call;
  switch (comparison) {
  case Comparison::eq:
    return oneRounding(C::strict_eq, a, b);
  case Comparison::gt:
    return oneRounding(C::strict_lt, b, a);
  case Comparison::ge:
    return oneRounding(C::strict_le, b, a);
  case Comparison::lt:
    return oneRounding(C::strict_lt, a, b);
  case Comparison::le:
    return oneRounding(C::strict_le, a, b);
  case Comparison::ne:
    return !oneRounding(C::strict_eq, a, b);
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
  case ScalarOp::constant:
    return Expr(float(s.value));
  case ScalarOp::add:
    return oneRounding(C::strict_add, a, b);
  case ScalarOp::sub:
    return oneRounding(C::strict_sub, a, b);
  case ScalarOp::mul:
    return oneRounding(C::strict_mul, a, b);
  case ScalarOp::div:
    return oneRounding(C::strict_div, a, b);
  case ScalarOp::neg:
    return -a;
  case ScalarOp::maximum:
    return keepNans(a, b, max(a, b));
  case ScalarOp::minimum:
    return keepNans(a, b, min(a, b));
  case ScalarOp::maxnum:
    return dropNans(a, b, max(a, b));
  case ScalarOp::minnum:
    return dropNans(a, b, min(a, b));
  case ScalarOp::compare:
    return compared(s.comparison, a, b);
  case ScalarOp::select:
    return select(a, b, c);
  case ScalarOp::exp:
    return expOf(a);
  case ScalarOp::exp2:
    return exp2Of(a);
  case ScalarOp::tanh:
    return tanhOf(a);
  case ScalarOp::erf:
    return erfOf(a);
  case ScalarOp::erfc:
    return erfcOf(a);
  case ScalarOp::sqrt:
    return sqrt(a);
  case ScalarOp::rsqrt:
    return 1.0f / sqrt(a);
  case ScalarOp::abs:
    return abs(a);
  case ScalarOp::log:
    return logOf(a);
  case ScalarOp::sin:
    return sinOf(a);
  case ScalarOp::cos:
    return cosOf(a);
  case ScalarOp::fma:
    return a * b + c; // fused where the machine can
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
      if (tail && x >= 0 &&
          scaledBy(tail->operands[0], -0.70710678118654752) == x)
        return x;
    }
    return -1;
  }
};

// Half of a value: of a sum its halves added, in the same bits, and a column's
// half is taken before the rows.
Expr halfOf(const Matcher &matcher, const std::vector<Expr> &values,
            int value) {
  auto half = [&](int of) { return multiplied(values[of], 0.5f); };
  if (const ScalarStep *s = matcher.step(value, ScalarOp::fma))
    return values[s->operands[0]] * half(s->operands[1]) + half(s->operands[2]);
  return half(value);
}

} // namespace

Expr evaluate(const ScalarProgram &program, const std::vector<Expr> &arguments,
              Element element, bool picks) {
  std::vector<Expr> values = arguments;
  auto operand = [&](int number) {
    return number < 0 ? Expr() : values[number];
  };
  const Matcher matcher{program};
  auto gelu = [&](int x) {
    if (picks)
      return isBf16(element) ? geluPickedForBf16(values[x])
                             : geluPicked(values[x]);
    Expr half = halfOf(matcher, values, x);
    return isBf16(element) ? geluOfTwiceForBf16(half) : geluOfTwice(half);
  };
  for (const ScalarStep &s : program.steps) {
    int x = matcher.geluOf(s);
    values.push_back(x >= 0 ? gelu(x)
                            : stepOf(s, operand(s.operands[0]),
                                     operand(s.operands[1]),
                                     operand(s.operands[2])));
  }
  return values[program.result];
}

} // namespace mille
