// Initial values by recipe. Element i must depend on (key, i) only, so that
// order, threads and machine do not matter.
#pragma once
#include "runtime/abi.h"

namespace mille {

struct Recipe {
  uint32_t distribution; // MILLE_DRAW_*, but FROM_FILE
  uint64_t key;
  double mean, std, cut;
};

// The key of the stream of that name.
uint64_t drawKey(uint64_t seed, const char *stream, uint64_t size);

// Draws the elements first, first + 1, ..., rounded to f32. features: of the
// CPU; the bits do not depend on them.
void draw(const Recipe &recipe, uint64_t first, float *into, uint64_t count,
          uint64_t features);

} // namespace mille
