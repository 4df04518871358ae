// Buckets of distances, written out.
#pragma once
#include <cstdint>
#include <vector>

namespace mille::import {

// The bucket of key - query for -most .. most: exact up to half the buckets of
// a side, then by logarithm up to `most`; in f32, as such models were trained.
// Needs most > buckets / 2 (/ 4 where both sides have their own) >= 1.
std::vector<int64_t> distanceBuckets(int64_t buckets, int64_t most,
                                     bool bothSides);

// DeBERTa's: the row of a table of 2 * span for each distance until both sides
// stay in their last; `buckets` of 0 or less: one for each distance.
std::vector<int64_t> contentRows(int64_t span, int64_t buckets, int64_t most);

} // namespace mille::import
