// GELU by the tail of the normal distribution: short polynomials, whose
// coefficients are picked by lane on machines that can. Must keep a vector a
// vector.
#include "compiler/halide/Gelu.h"

#include "compiler/halide/Functions.h"
#include "compiler/halide/OneRounding.h"
#include "compiler/halide/Polynomials.h"
#include "compiler/halide/instructions/PickInstruction.h"

#include <algorithm>

using namespace Halide;

namespace mille {
namespace {

// max(x, 0), or NaN where x is NaN. The first form is one instruction of a CPU;
// Halide cannot vectorise its strict comparison for a device. The second form
// compares bits as integers, and so works there: the bits of a negative number
// are at most those of minus infinity, the bits of a NaN are greater.
Expr positive(const Expr &x) {
  return select(oneRounding(Internal::Call::strict_lt, x, 0.0f), 0.0f, x);
}
Expr positiveByBits(const Expr &x) {
  return select(bitsOf(x) <= Expr(int32_t(0xff800000)), 0.0f, x);
}

} // namespace

// x Phi(x) = max(x, 0) - t Phi(-t). t is |x| up to where the last term
// vanishes, which is under 6e-9 beyond 6. NaN gives NaN.
Expr geluOf(const Expr &x) {
  Expr t = magnitude(x, 6.0f);
  return positiveByBits(x) - t * exp2Near(log2TailNear(t));
}

// Phi(-t) as a polynomial for t in [0, 4.25], its even and its odd powers
// apart, so that half as many multiply-adds wait for each other.
Expr geluForBf16(const Expr &x) {
  Expr t = magnitude(x, 4.25f), u = t * t;
  Expr tail = horner(u, {0.500017941f, 0.00918362662f, 0.03923871f,
                         0.0169893783f, 0.000354232325f}) +
              t * horner(u, {-0.400195926f, 0.0401330143f, -0.0436593555f,
                             -0.00340301637f, -1.52627072e-05f});
  return positiveByBits(x) - t * tail;
}

// Phi(x) + x phi(x), as compiler/fuse writes it. Beyond 16 phi is 0, and an
// infinity must not meet it.
Expr geluSlopeOf(const Expr &x) {
  constexpr float d = -0.70710678118654752f, c = -1.1283791670955126f;
  Expr near = keepNan(x, clamp(x, -16.0f, 16.0f));
  Expr t = multiplied(near, d);
  Expr bell = multiplied(expOf(-multiplied(t, t)), d);
  return added(multiplied(erfcOf(t), 0.5f),
               multiplied(multiplied(near, 0.5f), multiplied(bell, c)));
}

namespace {

// t Phi(-t) as a cubic on each of 14 intervals of t, which are longer where the
// function bends less. An interval's number is the last two bits of the
// exponent and the first two of the mantissa of t + 1/2; it is 8 where t is 0.
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

// A polynomial with picked coefficients.
template <size_t powers>
Expr pickedHorner(const Expr &x, const Expr &index,
                  const Sixteen (&coefficients)[powers]) {
  Expr sum = pickOf(coefficients[powers - 1], index);
  for (size_t power = powers - 1; power-- > 0;)
    sum = sum * x + pickOf(coefficients[power], index);
  return sum;
}

// log2 Phi(-t) on 12 intervals of length 1/2.
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

// Phi(-t) - t phi(t) for t = i / 2 + f, |f| <= 1/4 (at 0 f is not negative).
constexpr Sixteen slopeSextics[] = {
    {0.5f, 0.13250488f, -0.083315469f, -0.1274692f, -0.085231803f,
     -0.037611086f, -0.011945647f, -0.0028217605f, -0.0005036497f,
     -6.852916e-05f, -7.1469449e-06f, -5.7334677e-07f, -3.5468616e-08f,
     -1.6950407e-09f, -6.266232e-11f, -1.7937786e-12f},
    {-0.79788458f, -0.61611432f, -0.24197091f, 0.032379337f, 0.107982f,
     0.074495316f, 0.031022929f, 0.0089449855f, 0.001873621f, 0.00029170411f,
     3.4195076e-05f, 3.0425883e-06f, 2.0659989e-07f, 1.0746994e-08f,
     4.2947784e-10f, 1.3213785e-11f},
    {1.6642641e-06f, 0.33006096f, 0.36295605f, 0.16999203f, 3.5748851e-08f,
     -0.049298406f, -0.033238884f, -0.012599347f, -0.0032119195f,
     -0.00058440515f, -7.8053272e-05f, -7.7746154e-06f, -5.8332193e-07f,
     -3.3190386e-08f, -1.4390829e-09f, -4.7718562e-11f},
    {0.26592135f, 0.13568781f, -0.080632962f, -0.1443501f, -0.071997307f,
     -0.0020137755f, 0.016251324f, 0.0099373898f, 0.0033014212f, 0.00072531938f,
     0.00011242781f, 1.2679206e-05f, 1.0587161e-06f, 6.6182665e-08f,
     3.1207079e-09f, 1.115933e-10f},
    {0.00046206795f, -0.11229292f, -0.080655031f, 0.013648104f, 0.044990093f,
     0.021343851f, 1.4101847e-06f, -0.0042401641f, -0.0021862867f,
     -0.00061533687f, -0.00011394845f, -1.4803169e-05f, -1.3919458e-06f,
     -9.6464909e-08f, -4.984738e-09f, -1.9360263e-10f},
    {-0.062577732f, -0.018159589f, 0.035526514f, 0.029034996f, -0.0023987591f,
     -0.011531004f, -0.0046927021f, 0.00027096487f, 0.00088119769f,
     0.00037081496f, 8.74162e-05f, 1.3606158e-05f, 1.485192e-06f,
     1.1720533e-07f, 6.8087753e-09f, 2.9463237e-10f},
    {0.0080792531f, 0.022200836f, 0.0086965449f, -0.010193967f, -0.0077461372f,
     0.00091299199f, 0.0025170404f, 0.00075321156f, -0.00012809577f,
     -0.00014841232f, -4.8543399e-05f, -9.2606078e-06f, -1.1766683e-06f,
     -1.0504098e-07f, -6.7764403e-09f, -3.2141234e-10f}};

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

} // namespace

// Phi(-t) as a power of two, with seven multiplications where the polynomials
// take sixteen.
Expr geluPicked(const Expr &x) {
  Expr t = magnitude(x, 6.0f - 0x1p-20f);
  Expr stretch = bitsOf(oneRounding(Internal::Call::strict_add, t, 8.0f)) >> 19;
  return positive(x) -
         t * exp2Picked(pickedHorner(t, stretch, log2TailQuartics));
}

// The slope at t = |x|, or 1 less that at -t. Halves of t are in the last bits
// of t + 1.5 * 2^22. NaN gives NaN.
Expr geluSlopePicked(const Expr &x) {
  auto [halves, f] = splitBy(magnitude(x, 7.75f - 0x1p-20f), 6291456.0f);
  Expr slope = pickedHorner(f, halves, slopeSextics);
  return keepNan(x, select(oneRounding(Internal::Call::strict_lt, x, 0.0f),
                           slope, added(1.0f, -slope)));
}

// GELU with the accuracy of bf16: three multiplications where the
// polynomials take eleven.
Expr geluPickedForBf16(const Expr &x) {
  Expr t = magnitude(x, lastOfStretches);
  Expr stretch = bitsOf(oneRounding(Internal::Call::strict_add, t, 0.5f)) >> 21;
  auto coefficient = [&](int power) {
    return pickedBy(stretch, tailCubics[power]);
  };
  Expr sum = coefficient(3) * t + coefficient(2);
  sum = sum * t + coefficient(1);
  return added(positive(x), -coefficient(0)) - sum * t;
}

} // namespace mille
