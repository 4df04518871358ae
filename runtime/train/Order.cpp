// The order of training data: what the runtime and the loader share. Must give
// the same numbers on every machine, and keep nothing.
#include "runtime/mille.h"

namespace {
// splitmix64's finalizer.
uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}
} // namespace

// A Feistel network on twice `half` bits, the fewest that hold count - 1. It
// permutes all numbers of so many bits; one that is too large goes through it
// again, which ends, since its cycle comes back to `index`.
extern "C" uint64_t mille_data_order(uint64_t seed, uint64_t epoch,
                                     uint64_t index, uint64_t count) {
  if (count == 0)
    return 0;
  index %= count;
  unsigned half = 1;
  while (half < 32 && (count - 1) >> (2 * half))
    ++half;
  const uint64_t mask = ((uint64_t)1 << half) - 1, key = mixed(seed) ^ epoch;
  do {
    uint64_t left = index >> half, right = index & mask;
    for (uint64_t round = 0; round < 6; ++round) {
      const uint64_t next =
          left ^
          (mixed(mixed(key + round * 0x2545f4914f6cdd1du) ^ right) & mask);
      left = right;
      right = next;
    }
    index = left << half | right;
  } while (index >= count);
  return index;
}
