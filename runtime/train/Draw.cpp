// A counter-based generator: splitmix64's finaliser over a keyed index, and
// normals by Box-Muller in f32 of the words of splitmix64 itself, whose state
// is the key. It has its own logarithm, sine and cosine, since those of libms
// differ in the last bits. Must not contract a product and a sum: bits do not
// depend on the width of vectors.
#include "runtime/train/Draw.h"
#include "runtime/train/Widths.h"

#include <math.h>
#include <string.h>

#pragma STDC FP_CONTRACT OFF

namespace mille {

namespace {

constexpr uint64_t golden = 0x9e3779b97f4a7c15;

inline __attribute__((always_inline)) uint64_t mix(uint64_t bits) {
  bits += golden;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

// A number in (0, 1) with 53 bits. The added half excludes both ends.
inline __attribute__((always_inline)) double unit(uint64_t key,
                                                  uint64_t index) {
  return (double(mix(key ^ mix(index)) >> 11) + 0.5) * 0x1p-53;
}

// ln u for a normal u > 0: u = 2^e m with m in [sqrt 1/2, sqrt 2), and the
// polynomial of Cephes for ln m.
inline __attribute__((always_inline)) float logarithm(float u) {
  int32_t bits;
  memcpy(&bits, &u, sizeof bits);
  // The sum carries into the exponent if the fraction is that of sqrt 2 or
  // more.
  const int32_t exponent = ((bits + 0x004afb0d) >> 23) - 127;
  bits -= exponent << 23;
  float m;
  memcpy(&m, &bits, sizeof m);
  constexpr float terms[] = {
      7.0376836292e-2f,  -1.1514610310e-1f, 1.1676998740e-1f,
      -1.2420140846e-1f, 1.4249322787e-1f,  -1.6668057665e-1f,
      2.0000714765e-1f,  -2.4999993993e-1f, 3.3333331174e-1f};
  const float x = m - 1, z = x * x;
  float sum = terms[0];
  for (int i = 1; i < 9; ++i)
    sum = sum * x + terms[i];
  return (x + (x * z * sum - 0.5f * z)) + float(exponent) * 0.69314718f;
}

// How far from 0 a pair of normals lies, by half of its word.
inline __attribute__((always_inline)) float radiusOf(uint32_t half) {
  const float u = (float(int32_t(half >> 1)) + 0.5f) * 0x1p-31f; // (0, 1]
  return sqrtf(-2 * logarithm(u));
}

inline __attribute__((always_inline)) float withSign(float x, uint32_t sign) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits ^= sign << 31;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// The pair of that radius, turned by half * 2^-32 of a turn. No branches, so
// that a loop over pairs becomes one over vectors.
inline __attribute__((always_inline)) void
turnRadius(float radius, uint32_t half, float &first, float &second) {
  const uint32_t quarter = (half + (1u << 29)) >> 30;
  const float t = float(int32_t(half - (quarter << 30))) *
                  (6.2831853072f * 0x1p-32f), // +- pi / 4
      z = t * t;
  const float sine = t + t * z *
                             ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z -
                              1.6666654611e-1f);
  const float cosine =
      (1 - 0.5f * z) +
      z * z *
          ((2.4433157118e-5f * z - 1.3887316255e-3f) * z + 4.1666645683e-2f);
  const float x = quarter & 1 ? sine : cosine, y = quarter & 1 ? cosine : sine;
  first = radius * withSign(x, (quarter + 1) >> 1 & 1);
  second = radius * withSign(y, quarter >> 1 & 1);
}

// Numbers first, first + 1, ... within sqrt 3 deviations.
struct Uniform {
  uint64_t key;
  double mean, std;
  uint64_t first, count;
  float *into;

  template <int lanes> inline __attribute__((always_inline)) void draw() const {
    const Uniform u = *this;
#pragma clang loop vectorize_width(lanes) interleave_count(4)
    for (uint64_t i = 0; i < u.count; ++i)
      u.into[i] = (float)(u.mean + u.std * 1.732050807568877293527 *
                                       (2 * unit(u.key, u.first + i) - 1));
  }
};

struct Normals {
  uint64_t key;
  float mean, std;
  uint64_t features;
};

// A pair is one chain of 150 cycles, too long for a core to begin the next one
// meanwhile: each of its three parts is a loop of its own, over pairs in L1.
constexpr uint64_t blockPairs = 256;

struct Pairs {
  Normals of;
  uint64_t pair, count;
  float *into;

  template <int lanes> inline __attribute__((always_inline)) void draw() const {
    const Normals n = of;
    uint32_t low[blockPairs], high[blockPairs];
    float radius[blockPairs];
    for (uint64_t done = 0; done < count; done += blockPairs) {
      const uint64_t some =
          count - done < blockPairs ? count - done : blockPairs;
      uint64_t state = n.key + golden * (pair + done);
      float *to = into + 2 * done;
#pragma clang loop vectorize_width(lanes) interleave_count(4)
      for (uint64_t i = 0; i < some; ++i, state += golden) {
        const uint64_t word = mix(state);
        low[i] = uint32_t(word);
        high[i] = uint32_t(word >> 32);
      }
#pragma clang loop vectorize_width(2 * lanes) interleave_count(2)
      for (uint64_t i = 0; i < some; ++i)
        radius[i] = radiusOf(low[i]);
#pragma clang loop vectorize_width(2 * lanes) interleave_count(2)
      for (uint64_t i = 0; i < some; ++i) {
        float first, second;
        turnRadius(radius[i], high[i], first, second);
        to[2 * i] = n.mean + n.std * first;
        to[2 * i + 1] = n.mean + n.std * second;
      }
    }
  }
};

template <typename Numbers> MILLE_WIDE void drawWide(const Numbers &numbers) {
  numbers.template draw<8>();
}
template <typename Numbers> MILLE_HALF void drawHalf(const Numbers &numbers) {
  numbers.template draw<4>();
}

// Draws in the widest vectors of the CPU. The parameter of `draw` is how many
// numbers of 64 bits one of them holds.
template <typename Numbers>
void drawInVectors(const Numbers &numbers, uint64_t features) {
  if (features & MILLE_CPU_AVX512)
    drawWide(numbers);
  else if (features & MILLE_CPU_AVX2)
    drawHalf(numbers);
  else
    numbers.template draw<2>();
}

void normalPairs(const Normals &normals, uint64_t pair, uint64_t count,
                 float *into) {
  drawInVectors(Pairs{normals, pair, count, into}, normals.features);
}

// The pairs' numbers from the first-th on.
void normals(const Normals &normals, uint64_t first, float *into,
             uint64_t count) {
  if (count == 0)
    return;
  // The second of a pair whose first is another's, whole pairs, and a first.
  const uint64_t odd = first & 1, pairs = (count - odd) / 2;
  uint64_t pair = first / 2;
  float ends[2];
  if (odd) {
    normalPairs(normals, pair++, 1, ends);
    into[0] = ends[1];
  }
  normalPairs(normals, pair, pairs, into + odd);
  if (odd + 2 * pairs < count) {
    normalPairs(normals, pair + pairs, 1, ends);
    into[count - 1] = ends[0];
  }
}

// Each attempt of a truncated normal uses other counters.
constexpr uint64_t mostAttempts = 1000;
inline uint64_t counterOf(uint64_t index, uint64_t attempt) {
  return index | attempt << 44;
}

// A normal of deviation 1 within +- cut < 1, where it is nearly flat, by
// rejection.
double truncatedFlat(uint64_t key, uint64_t index, double cut) {
  for (uint64_t attempt = 0; attempt < mostAttempts; ++attempt) {
    const uint64_t counter = 2 * counterOf(index, attempt);
    const double x = cut * (2 * unit(key, counter) - 1);
    if (unit(key, counter + 1) < exp(-x * x / 2))
      return x;
  }
  return 0;
}

// The same for a larger cut: the number of the first pair that has one within,
// of which `pair` is that of attempt 0.
double truncatedPairs(uint64_t key, uint64_t index, double cut,
                      const float *pair) {
  float other[2];
  for (uint64_t attempt = 1; attempt <= mostAttempts; ++attempt) {
    for (int i = 0; i < 2; ++i)
      if (fabs(double(pair[i])) <= cut)
        return pair[i];
    normalPairs({key, 0, 1, 0}, counterOf(index, attempt), 1, other);
    pair = other;
  }
  return 0;
}

void drawTruncated(const Recipe &recipe, uint64_t first, float *into,
                   uint64_t count, uint64_t features) {
  const bool flat = recipe.cut < 1;
  float pairs[2 * blockPairs];
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t in = i % blockPairs, index = first + i;
    if (!flat && in == 0)
      normalPairs({recipe.key, 0, 1, features}, index,
                  count - i < blockPairs ? count - i : blockPairs, pairs);
    const double x =
        flat ? truncatedFlat(recipe.key, index, recipe.cut)
             : truncatedPairs(recipe.key, index, recipe.cut, pairs + 2 * in);
    into[i] = (float)(recipe.mean + recipe.std * x);
  }
}

} // namespace

// FNV-1a, which is the same on every machine, of the name.
uint64_t drawKey(uint64_t seed, const char *stream, uint64_t size) {
  uint64_t bits = 0xcbf29ce484222325;
  for (uint64_t i = 0; i < size; ++i)
    bits = (bits ^ (unsigned char)stream[i]) * 0x100000001b3;
  return mix(mix(seed) ^ bits);
}

void draw(const Recipe &recipe, uint64_t first, float *into, uint64_t count,
          uint64_t features) {
  const double mean = recipe.mean, std = recipe.std;
  const uint64_t key = recipe.key;
  switch (recipe.distribution) {
  case MILLE_DRAW_FIXED:
    for (uint64_t i = 0; i < count; ++i)
      into[i] = (float)mean;
    return;
  case MILLE_DRAW_UNIFORM:
    drawInVectors(Uniform{key, mean, std, first, count, into}, features);
    return;
  case MILLE_DRAW_TRUNCATED_NORMAL:
    drawTruncated(recipe, first, into, count, features);
    return;
  case MILLE_DRAW_NORMAL:
    normals({key, (float)mean, (float)std, features}, first, into, count);
    return;
  }
}

} // namespace mille
