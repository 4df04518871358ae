// Random inputs from raw bits, so that every standard library gives the same.
// Must not choose the seed: callers do.
#pragma once
#include <cstdint>
#include <random>

namespace mille {

// A number from -1 to 1.
inline double drawNumber(std::mt19937_64 &bits) {
  return double(bits() >> 11) * 0x1p-52 - 1.0;
}

// An id from 0 to below - 1; 0 or 1 if there is no bound (below 0).
inline int64_t drawId(std::mt19937_64 &bits, int64_t below) {
  return int64_t(bits() % uint64_t(below > 0 ? below : 2));
}

} // namespace mille
