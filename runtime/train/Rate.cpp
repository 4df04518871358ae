// Must give the same numbers on every machine: no table, no drawn state.
#include "runtime/train/Rate.h"

#include <math.h>

namespace mille {

double rateAt(const mille_training_info &training, int64_t step) {
  const double warmup = (double)training.warmup, peak = training.peak,
               end = training.end;
  if (step < training.warmup)
    return peak * (double)(step + 1) / warmup;
  double rest = (double)(training.steps - training.warmup);
  double done = rest > 0 ? ((double)step - warmup) / rest : 1;
  if (done > 1)
    done = 1;
  switch (training.schedule) {
  case MILLE_RATE_LINEAR:
    return peak + (end - peak) * done;
  case MILLE_RATE_COSINE:
    return end + (peak - end) * 0.5 * (1 + cos(M_PI * done));
  case MILLE_RATE_INVERSE_SQRT: {
    const double rate =
        peak * sqrt((warmup > 1 ? warmup : 1) / (double)(step + 1));
    return rate > end ? rate : end;
  }
  default:
    return peak;
  }
}

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
uint64_t orderAt(uint64_t seed, uint64_t epoch, uint64_t index,
                 uint64_t count) {
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

} // namespace mille
