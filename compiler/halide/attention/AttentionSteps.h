// Quantisation by rows: the step of a row is its largest magnitude over the
// largest integer. Scores and mixed values of integers share it.
// Must not know masks.
#pragma once
#include "Halide.h"

namespace mille {

constexpr float leastMagnitude = 1.0e-30f; // below, a row counts as zeros

// Bits of which the lower half is x as an integer, to nearest; |x| < 2^15.
Halide::Expr asInteger(const Halide::Expr &x);

// The bits of |x|: their order is the order of magnitudes, with NaN above all.
Halide::Expr magnitudeOf(const Halide::Expr &x);

// These bits, or those of a NaN where the number is not finite.
Halide::Expr finiteOrNan(const Halide::Expr &bits);

// For a row whose largest magnitude has these bits: 1 / step, which is 0 where
// the row counts as zeros; and the step, which is NaN where the row holds a
// number that is not finite.
Halide::Expr inverseStepOf(const Halide::Expr &bits, int most);
Halide::Expr stepOf(const Halide::Expr &bits, int most);

} // namespace mille
