// Computes numbers from a token's place in an image: the angles of 2-D
// rotations, and coordinates for a computed bias.
#pragma once
#include "compiler/import/Windows.h"

namespace mille::import {

// [prefix + tokens, 2n], n = headDim / 2: the cosines, then the sines, of each
// token's angles. These are 2 pi times its row, then its column (both measured
// at the token's middle, -1 to 1 over the image), times theta^(-4i / headDim)
// for i < headDim / 4. The first `prefix` tokens do not turn.
std::vector<double> axialRotation(Grid grid, int64_t prefix, int64_t headDim,
                                  double theta);

// [(2 size - 1)^2, 2]: the distances in rows and columns between two places of
// a window. They are scaled to 8 at the ends of a window of `scaledTo` places,
// then mapped by sign(d) log2(1 + |d|) / 3.
std::vector<double> logSpacedDistances(int64_t size, int64_t scaledTo);

} // namespace mille::import
