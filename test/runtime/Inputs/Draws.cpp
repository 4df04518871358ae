// Draws of a parameter's numbers: any stretch of them has the bits that each
// has alone, on CPUs with vectors of any width.
#include "runtime/train/Draw.h"

#include <cstdio>
#include <cstring>
#include <vector>

using namespace mille;

namespace {

constexpr uint64_t far = (uint64_t(1) << 33) + 5; // no 32 bits hold it

int check(const Recipe &recipe, uint64_t first, uint64_t count,
          uint64_t features) {
  std::vector<float> all(count + 1, -7.0f);
  draw(recipe, first, all.data(), count, features);
  for (uint64_t i = 0; i < count; ++i) {
    float alone;
    draw(recipe, first + i, &alone, 1, 0);
    if (std::memcmp(&all[i], &alone, sizeof alone) == 0)
      continue;
    std::printf("distribution %u, %llu of %llu from %llu: %.9g, alone %.9g\n",
                recipe.distribution, (unsigned long long)i,
                (unsigned long long)count, (unsigned long long)first, all[i],
                alone);
    return 1;
  }
  if (all[count] != -7.0f)
    return std::printf("%llu numbers are more\n", (unsigned long long)count), 1;
  return 0;
}

} // namespace

int main() {
  int failed = 0, done = 0;
  for (uint32_t distribution : {MILLE_DRAW_FIXED, MILLE_DRAW_UNIFORM,
                                MILLE_DRAW_TRUNCATED_NORMAL, MILLE_DRAW_NORMAL})
    for (uint64_t features :
         {uint64_t(0), mille_cpu_features() & MILLE_CPU_AVX2,
          mille_cpu_features()})
      for (uint64_t first : {uint64_t(0), uint64_t(77), far})
        for (uint64_t count : {0, 1, 2, 15, 127, 128, 130, 1001}) {
          const Recipe recipe = {distribution, 7, 0.5, 0.25, 2};
          failed += check(recipe, first, count, features);
          ++done;
        }
  std::printf("%d stretches, %d differ\n", done, failed);
  return failed != 0;
}
