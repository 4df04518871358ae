// Computes the buckets of distances between tokens.
#pragma once
#include <cstdint>
#include <vector>

namespace mille::import {

// The bucket of each distance key - query in -most .. most. On each side, small
// distances have a bucket each, up to half of the side's buckets; larger ones
// share buckets of logarithmic width up to `most`. It computes in f32, as these
// models were trained. Requires most > buckets / 2 >= 1, or buckets / 4 if the
// two sides have separate buckets.
std::vector<int64_t> distanceBuckets(int64_t buckets, int64_t most,
                                     bool bothSides);

// DeBERTa's buckets: for each distance the row of a table with 2 * span rows,
// up to the distance from which on both sides stay in their last bucket. If
// `buckets` is 0 or less, each distance has its own.
std::vector<int64_t> contentRows(int64_t span, int64_t buckets, int64_t most);

} // namespace mille::import
