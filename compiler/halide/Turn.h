// RoPE on Halide: which columns of a head turn together, and by how much.
// Private to this room.
#pragma once
#include "Halide.h"

namespace mille {

// n angles from dimension `start` of a head on.
struct Turning {
  int64_t angles = 0, start = 0;
  bool interleaved = false;
};

// Expressions of a pair: its columns, or its values.
struct Pair {
  Halide::Expr first, second;
};
Pair columnsOfPair(const Turning &turning, const Halide::Expr &angle);
// The pair `x` after a turn by row `row` of `rotation` (n cosines, n sines).
Pair turnedPair(const Turning &turning, const Pair &x,
                const Halide::ImageParam &rotation, const Halide::Expr &angle,
                const Halide::Expr &row);

// The widest vector of at most `lanes` that divides `columns`: no tail to guard.
int lanesFor(int64_t columns, int lanes);

} // namespace mille
