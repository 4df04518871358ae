// T5's buckets of distances, written out.
#pragma once
#include <cstdint>
#include <vector>

namespace mille::import {

// The bucket of key - query for -most .. most: exact up to half the buckets of a
// side, then by logarithm up to `most`; in f32, as such models were trained.
// Needs most > buckets / 2 (/ 4 where both sides have their own) >= 1.
std::vector<int64_t> distanceBuckets(int64_t buckets, int64_t most,
                                     bool bothSides);

} // namespace mille::import
