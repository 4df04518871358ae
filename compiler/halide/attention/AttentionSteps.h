// Numbers as integers, each row with a step of its own: its largest magnitude
// over the largest integer. What attention's scores and mixed values of
// integers share.
#pragma once
#include "Halide.h"

namespace mille {

constexpr float leastMagnitude = 1.0e-30f; // of a row; below, it counts as 0

// The lower half of its bits is x as an integer, to nearest, below 2^15.
Halide::Expr asInteger(const Halide::Expr &x);

// Bits of |x|: in the order of magnitudes, and those of a NaN above all others.
Halide::Expr magnitudeOf(const Halide::Expr &x);

// These bits, and a NaN's where they are of no finite number.
Halide::Expr finiteOrNan(const Halide::Expr &bits);

// Of a row whose largest magnitude has these bits: how many integers are 1, 0
// where the row counts as 0; and how much an integer is, NaN where one of the
// row is no number.
Halide::Expr inverseStepOf(const Halide::Expr &bits, int most);
Halide::Expr stepOf(const Halide::Expr &bits, int most);

} // namespace mille
