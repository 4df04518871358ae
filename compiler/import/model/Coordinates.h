// Numbers that follow from where a token is in an image: angles of 2-D
// rotations, coordinates that a bias is computed from.
#pragma once
#include "compiler/import/Windows.h"

namespace mille::import {

// [prefix + tokens, 2n], n = headDim / 2: the cosines, then the sines, of a
// token's angles: 2 pi times its row, then its column (the middle of it, -1 to
// 1 over the image), times theta^(-4i / headDim), i < headDim / 4. The first
// `prefix` tokens do not turn.
std::vector<double> axialRotation(Grid grid, int64_t prefix, int64_t headDim,
                                  double theta);

// [(2 size - 1)^2, 2]: distances in rows and columns between two places of a
// window, 8 at the ends of a window of `scaledTo` places, on a scale of
// sign(d) log2(1 + |d|) / 3.
std::vector<double> logSpacedDistances(int64_t size, int64_t scaledTo);

} // namespace mille::import
