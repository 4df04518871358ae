// Philox 4x32-10: four words of a counter and a key. Must not keep a state.
// J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, Parallel random numbers:
// as easy as 1, 2, 3, SC 2011.
#pragma once
#include <stdint.h>

namespace mille {

struct Philox {
  uint32_t word[4];

  constexpr Philox(const uint32_t (&counter)[4], uint32_t first,
                   uint32_t second)
      : word{counter[0], counter[1], counter[2], counter[3]} {
    for (int round = 0; round < 10; ++round) {
      const uint64_t left = (uint64_t)word[0] * 0xD2511F53u,
                     right = (uint64_t)word[2] * 0xCD9E8D57u;
      const uint32_t next[4] = {
          (uint32_t)(right >> 32) ^ word[1] ^ first, (uint32_t)right,
          (uint32_t)(left >> 32) ^ word[3] ^ second, (uint32_t)left};
      for (int i = 0; i < 4; ++i)
        word[i] = next[i];
      first += 0x9E3779B9u;
      second += 0xBB67AE85u;
    }
  }
};

// The known answers of its authors' tests.
static_assert(Philox({0, 0, 0, 0}, 0, 0).word[0] == 0x6627e8d5u);
static_assert(Philox({~0u, ~0u, ~0u, ~0u}, ~0u, ~0u).word[3] == 0x6d5451fdu);

// Which numbers a dropout keeps, and what it multiplies them by.
struct Dropout {
  uint32_t seed, site, step, layer;
  double rate;

  float factor() const { return (float)(1 / (1 - rate)); }
  // Words below it are not kept.
  uint32_t threshold() const { return (uint32_t)(rate * 4294967296.0); }
  // Words of columns 4 * block to 4 * block + 3 of a row.
  Philox words(uint32_t block, uint32_t row) const {
    const uint32_t counter[4] = {block, row, step, layer};
    return Philox(counter, seed, site);
  }
};

} // namespace mille
