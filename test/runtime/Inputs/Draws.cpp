// Draws of a parameter's numbers: any stretch of them has the bits that each
// has alone, on CPUs with vectors of any width; normals are those of Box and
// Muller of their words, whose moments and tails they have.
#include "runtime/train/Draw.h"

#include <algorithm>
#include <cmath>
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

// The words of splitmix64 (Steele, Lea, Flood, 2014) of that state.
uint64_t wordOf(uint64_t state, uint64_t number) {
  uint64_t bits = state + (number + 1) * 0x9e3779b97f4a7c15;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  return bits ^ bits >> 31;
}

// How far the numbers lie from Box and Muller's in double.
double worstNormal(uint64_t key, const std::vector<float> &numbers) {
  double worst = 0;
  for (uint64_t pair = 0; 2 * pair + 1 < numbers.size(); ++pair) {
    const uint64_t word = wordOf(key, pair);
    const double u = double(float(uint32_t(word) >> 1) + 0.5f) * 0x1p-31,
                 angle = 2 * M_PI * double(word >> 32) * 0x1p-32,
                 radius = std::sqrt(-2 * std::log(u));
    worst =
        std::max(worst, std::abs(numbers[2 * pair] - radius * std::cos(angle)));
    worst = std::max(
        worst, std::abs(numbers[2 * pair + 1] - radius * std::sin(angle)));
  }
  return worst;
}

int checkMoments(const std::vector<float> &numbers) {
  const double count = double(numbers.size());
  double sums[5] = {}, beyond[5] = {}, pairs = 0, squares = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double x = numbers[i];
    for (int power = 1; power <= 4; ++power) {
      sums[power] += std::pow(x, power);
      beyond[power] += std::abs(x) > power;
    }
    if (i % 2 == 0) {
      pairs += x * numbers[i + 1];
      squares += (x * x - 1) * (double(numbers[i + 1]) * numbers[i + 1] - 1);
    }
  }
  int failed = 0;
  auto near = [&](const char *what, double found, double expected,
                  double deviation) {
    if (std::abs(found - expected) <= 5 * deviation / std::sqrt(count))
      return;
    ++failed;
    std::printf("%s: %g, expected %g\n", what, found, expected);
  };
  near("mean", sums[1] / count, 0, 1);
  near("mean square", sums[2] / count, 1, std::sqrt(2));
  near("mean cube", sums[3] / count, 0, std::sqrt(15));
  near("mean fourth power", sums[4] / count, 3, std::sqrt(96));
  for (int power = 1; power <= 4; ++power) {
    const double share = std::erfc(power / std::sqrt(2));
    near("share beyond", beyond[power] / count, share, std::sqrt(share));
  }
  near("mean product of a pair", 2 * pairs / count, 0, std::sqrt(2));
  near("that of its squares", 2 * squares / count, 0, std::sqrt(8));
  return failed;
}

int checkNormals() {
  int failed = 0;
  for (uint64_t key : {uint64_t(7), drawKey(1, "layers.0.ffn.in.weight", 22)}) {
    std::vector<float> numbers(1 << 20);
    draw({MILLE_DRAW_NORMAL, key, 0, 1, 0}, 0, numbers.data(), numbers.size(),
         mille_cpu_features());
    const double worst = worstNormal(key, numbers);
    if (!(worst < 1e-6))
      failed += std::printf("a normal is %g from its formula\n", worst) > 0;
    failed += checkMoments(numbers);
  }
  return failed;
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
          for (double cut : {2.0, 0.5}) {
            const Recipe recipe = {distribution, 7, 0.5, 0.25, cut};
            failed += check(recipe, first, count, features);
            ++done;
          }
        }
  std::printf("%d stretches, %d differ\n", done, failed);
  failed += checkNormals();
  return failed != 0;
}
