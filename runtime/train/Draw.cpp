// A counter-based generator: splitmix64's finaliser over a keyed index, normals
// by Box-Muller. It has its own logarithm, sine and cosine, since those of
// libms differ in the last bits. Must not contract a product and a sum: bits do
// not depend on the width of vectors.
#include "runtime/train/Draw.h"

#include <math.h>
#include <string.h>

#pragma STDC FP_CONTRACT OFF

namespace mille {

namespace {

inline __attribute__((always_inline)) uint64_t mix(uint64_t bits) {
  bits += 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

// A number in (0, 1) with 53 bits. The added half excludes both ends.
inline __attribute__((always_inline)) double unit(uint64_t key,
                                                  uint64_t index) {
  return (double(mix(key ^ mix(index)) >> 11) + 0.5) * 0x1p-53;
}

// ln u for a normal u > 0: u = 2^e m with m in [sqrt 1/2, sqrt 2), and
// ln m = 2 atanh((m - 1) / (m + 1)) by its series, |argument| < 0.172.
inline __attribute__((always_inline)) double logarithm(double u) {
  uint64_t bits;
  memcpy(&bits, &u, sizeof bits);
  // The sum carries into the exponent if the fraction is that of sqrt 2 or
  // more.
  int64_t exponent = int64_t((bits + 0x00095f619980c433) >> 52) - 1023;
  bits -= uint64_t(exponent) << 52;
  double m;
  memcpy(&m, &bits, sizeof m);
  double s = (m - 1) / (m + 1), z = s * s, sum = 0;
  for (int odd = 21; odd >= 1; odd -= 2)
    sum = sum * z + 1.0 / odd;
  return 2 * s * sum + double(exponent) * 0.693147180559945309417;
}

// How far from 0 a pair of normals lies, whose first word is u.
inline __attribute__((always_inline)) double radiusOf(double u) {
  return sqrt(-2 * logarithm(u));
}

// The pair of that radius, at that part of a turn. Without branches, so that a
// loop over pairs becomes one over vectors.
inline __attribute__((always_inline)) void
turnRadius(double radius, double turns, double &first, double &second) {
  int64_t quarter = int64_t(4 * turns + 0.5);
  double t =
      (turns - 0.25 * double(quarter)) * 6.283185307179586476925; // +- pi / 4
  double z = -t * t, sine = 1, cosine = 1;
  for (int n = 16; n >= 2; n -= 2) {
    sine = 1 + sine * z * (1 / (n * (n + 1.0)));
    cosine = 1 + cosine * z * (1 / (n * (n - 1.0)));
  }
  sine *= t;
  const double x = quarter & 1 ? -sine : cosine,
               y = quarter & 1 ? cosine : sine;
  first = radius * (quarter & 2 ? -x : x);
  second = radius * (quarter & 2 ? -y : y);
}

// Two independent normals of mean 0 and deviation 1.
void normalPair(uint64_t key, uint64_t pair, double &first, double &second) {
  turnRadius(radiusOf(unit(key, 2 * pair)), unit(key, 2 * pair + 1), first,
             second);
}

struct Normals {
  uint64_t key;
  double mean, std;
  uint64_t features;
};

// A pair is one chain of 250 cycles, too long for a core to begin the next one
// meanwhile: each of its three parts is a loop of its own, over pairs in L1.
constexpr uint64_t blockPairs = 64;

template <int lanes>
inline __attribute__((always_inline)) void
anyPairs(const Normals &normals, uint64_t pair, uint64_t count, float *into) {
  const Normals n = normals;
  double radius[blockPairs], turns[blockPairs];
  for (uint64_t done = 0; done < count; done += blockPairs) {
    const uint64_t some = count - done < blockPairs ? count - done : blockPairs,
                   from = 2 * (pair + done);
    float *to = into + 2 * done;
#pragma clang loop vectorize_width(lanes) interleave_count(4)
    for (uint64_t i = 0; i < some; ++i) {
      radius[i] = unit(n.key, from + 2 * i);
      turns[i] = unit(n.key, from + 2 * i + 1);
    }
#pragma clang loop vectorize_width(lanes) interleave_count(4)
    for (uint64_t i = 0; i < some; ++i)
      radius[i] = radiusOf(radius[i]);
#pragma clang loop vectorize_width(lanes) interleave_count(4)
    for (uint64_t i = 0; i < some; ++i) {
      double first, second;
      turnRadius(radius[i], turns[i], first, second);
      to[2 * i] = float(n.mean + n.std * first);
      to[2 * i + 1] = float(n.mean + n.std * second);
    }
  }
}

#if defined(__x86_64__)
#define WIDE __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw")))
#define HALF __attribute__((target("avx2")))
#else
#define WIDE
#define HALF
#endif
WIDE void widePairs(const Normals &normals, uint64_t pair, uint64_t count,
                    float *into) {
  anyPairs<8>(normals, pair, count, into);
}
HALF void halfPairs(const Normals &normals, uint64_t pair, uint64_t count,
                    float *into) {
  anyPairs<4>(normals, pair, count, into);
}

void normalPairs(const Normals &normals, uint64_t pair, uint64_t count,
                 float *into) {
  if (normals.features & MILLE_CPU_AVX512)
    widePairs(normals, pair, count, into);
  else if (normals.features & MILLE_CPU_AVX2)
    halfPairs(normals, pair, count, into);
  else
    anyPairs<2>(normals, pair, count, into);
}

// A normal of deviation 1 within +- cut, by rejection. Each attempt uses other
// counters.
double truncated(uint64_t key, uint64_t index, double cut) {
  for (uint64_t attempt = 0; attempt < 1000; ++attempt) {
    uint64_t counter = index | attempt << 44;
    if (cut < 1) { // the normal is nearly flat here
      double x = cut * (2 * unit(key, 2 * counter) - 1);
      if (unit(key, 2 * counter + 1) < exp(-x * x / 2))
        return x;
      continue;
    }
    double first, second;
    normalPair(key, counter, first, second);
    if (fabs(first) <= cut)
      return first;
    if (fabs(second) <= cut)
      return second;
  }
  return 0;
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
    for (uint64_t i = 0; i < count; ++i)
      into[i] = (float)(mean + std * 1.732050807568877293527 *
                                   (2 * unit(key, first + i) - 1));
    return;
  case MILLE_DRAW_TRUNCATED_NORMAL:
    for (uint64_t i = 0; i < count; ++i)
      into[i] = (float)(mean + std * truncated(key, first + i, recipe.cut));
    return;
  case MILLE_DRAW_NORMAL: {
    if (count == 0)
      return;
    const Normals normals = {key, mean, std, features};
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
    return;
  }
  }
}

} // namespace mille
