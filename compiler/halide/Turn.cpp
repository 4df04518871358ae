// RoPE on Halide. Must give a pair the same bits wherever it is turned.
#include "compiler/halide/Turn.h"

using namespace Halide;

namespace mille {

Pair columnsOfPair(const Turning &turning, const Expr &angle) {
  const int n = int(turning.angles), start = int(turning.start);
  if (turning.interleaved)
    return {2 * angle + start, 2 * angle + (start + 1)};
  return {angle + start, angle + (start + n)};
}

Pair turnedPair(const Turning &turning, const Pair &x, const ImageParam &rotation,
                const Expr &angle, const Expr &row) {
  Expr cosine = rotation(angle, row);
  Expr sine = rotation(angle + int(turning.angles), row);
  return {x.first * cosine - x.second * sine, x.second * cosine + x.first * sine};
}

int lanesFor(int64_t columns, int lanes) {
  while (columns % lanes)
    lanes /= 2;
  return lanes;
}

} // namespace mille
