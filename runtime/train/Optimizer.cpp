// The same operations on every CPU, in vectors as wide as it has: bits do not
// depend on the width. Must not contract a product and a sum.
#include "runtime/train/Optimizer.h"
#include "runtime/train/Widths.h"

#include <math.h>
#include <string.h>

#pragma STDC FP_CONTRACT OFF

namespace mille {

const char *optimizerName(uint32_t optimizer) {
  static const char *const names[] = {"sgd", "adam", "adamw", "lamb", "lion"};
  return names[optimizer];
}

int statesOf(const mille_training_info &training) {
  switch (training.optimizer) {
  case MILLE_OPTIMIZER_SGD:
    return training.first != 0;
  case MILLE_OPTIMIZER_LION:
    return 1;
  default:
    return 2;
  }
}

UpdateNumbers::UpdateNumbers(const mille_training_info &training, double rate,
                             double decay, double scale, int64_t step,
                             uint64_t features)
    : features(features), optimizer(training.optimizer), rate((float)rate),
      decay((float)decay), scale((float)scale), keep((float)(1 - rate * decay)),
      firstBeta((float)training.first), firstRest((float)(1 - training.first)),
      secondBeta((float)training.second),
      secondRest((float)(1 - training.second)),
      epsilon((float)training.epsilon) {
  const double first = 1 - pow(training.first, (double)step),
               second = 1 - pow(training.second, (double)step);
  corrected = (float)(rate / first);
  firstCorrection = (float)(1 / first);
  root = (float)(1 / sqrt(second));
}

namespace {

using Numbers = UpdateNumbers;

inline __attribute__((always_inline)) void
sgd(float *w, const float *g, float *m, uint64_t count, const Numbers &n) {
  const float scale = n.scale, decay = n.decay, rate = n.rate;
  for (uint64_t i = 0; i < count; ++i)
    w[i] -= rate * (g[i] * scale + decay * w[i]);
}

inline __attribute__((always_inline)) void heavyBall(float *w, const float *g,
                                                     float *m, uint64_t count,
                                                     const Numbers &n) {
  const float scale = n.scale, decay = n.decay, rate = n.rate,
              beta = n.firstBeta;
  for (uint64_t i = 0; i < count; ++i) {
    m[i] = beta * m[i] + (g[i] * scale + decay * w[i]);
    w[i] -= rate * m[i];
  }
}

// With `apart` the decay acts on the weights (AdamW), else on the gradient.
template <bool apart>
inline __attribute__((always_inline)) void
adam(float *w, const float *g, float *m, float *v, uint64_t count,
     const Numbers &n) {
  const float scale = n.scale, decay = n.decay, keep = n.keep,
              first = n.firstRest, beta = n.secondBeta, rest = n.secondRest,
              root = n.root, epsilon = n.epsilon, rate = n.corrected;
  for (uint64_t i = 0; i < count; ++i) {
    const float slope = apart ? g[i] * scale : g[i] * scale + decay * w[i];
    const float mean = m[i] + (slope - m[i]) * first;
    const float square = beta * v[i] + rest * slope * slope;
    const float below = __builtin_sqrtf(square) * root + epsilon;
    m[i] = mean;
    v[i] = square;
    w[i] = (apart ? w[i] * keep : w[i]) - rate * (mean / below);
  }
}

inline __attribute__((always_inline)) float lambOf(float w, float m, float v,
                                                   const Numbers &n) {
  return m * n.firstCorrection / (__builtin_sqrtf(v) * n.root + n.epsilon) +
         n.decay * w;
}

inline __attribute__((always_inline)) Lengths lamb(const float *w,
                                                   const float *g, float *m,
                                                   float *v, uint64_t count,
                                                   const Numbers &n) {
  const float scale = n.scale, first = n.firstRest, beta = n.secondBeta,
              rest = n.secondRest;
  double ofWeight[8] = {}, ofUpdate[8] = {};
  for (uint64_t i = 0; i < count; ++i) {
    const float slope = g[i] * scale;
    m[i] = m[i] + (slope - m[i]) * first;
    v[i] = beta * v[i] + rest * slope * slope;
    const double update = lambOf(w[i], m[i], v[i], n), weight = w[i];
    ofWeight[i % 8] += weight * weight;
    ofUpdate[i % 8] += update * update;
  }
  Lengths sum = {0, 0};
  for (int lane = 0; lane < 8; ++lane) {
    sum.weight += ofWeight[lane];
    sum.update += ofUpdate[lane];
  }
  return sum;
}

inline __attribute__((always_inline)) void
lion(float *w, const float *g, float *m, uint64_t count, const Numbers &n) {
  const float scale = n.scale, keep = n.keep, rate = n.rate;
  for (uint64_t i = 0; i < count; ++i) {
    const float slope = g[i] * scale;
    const float turn = n.firstBeta * m[i] + n.firstRest * slope;
    const float sign = (float)(turn > 0) - (float)(turn < 0);
    w[i] = w[i] * keep - rate * sign;
    m[i] = n.secondBeta * m[i] + n.secondRest * slope;
  }
}

inline __attribute__((always_inline)) Lengths any(const Stretch &s,
                                                  const Numbers &n) {
  float *w = s.weight, *m = s.first, *v = s.second;
  const float *g = s.gradient;
  switch (n.optimizer) {
  case MILLE_OPTIMIZER_SGD:
    m ? heavyBall(w, g, m, s.count, n) : sgd(w, g, m, s.count, n);
    break;
  case MILLE_OPTIMIZER_ADAM:
    adam<false>(w, g, m, v, s.count, n);
    break;
  case MILLE_OPTIMIZER_ADAMW:
    adam<true>(w, g, m, v, s.count, n);
    break;
  case MILLE_OPTIMIZER_LAMB:
    return lamb(w, g, m, v, s.count, n);
  case MILLE_OPTIMIZER_LION:
    lion(w, g, m, s.count, n);
    break;
  }
  return {0, 0};
}

inline __attribute__((always_inline)) double anySum(const float *values,
                                                    uint64_t count) {
  double sums[8] = {};
  uint64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int lane = 0; lane < 8; ++lane) {
      const double value = values[i + lane];
      sums[lane] += value * value;
    }
  for (; i < count; ++i) {
    const double value = values[i];
    sums[i % 8] += value * value;
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
         ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

MILLE_WIDE Lengths updateWide(const Stretch &s, const Numbers &n) {
  return any(s, n);
}
MILLE_HALF Lengths updateHalf(const Stretch &s, const Numbers &n) {
  return any(s, n);
}
MILLE_WIDE double sumWide(const float *values, uint64_t count) {
  return anySum(values, count);
}
MILLE_HALF double sumHalf(const float *values, uint64_t count) {
  return anySum(values, count);
}

} // namespace

Lengths update(const Stretch &stretch, const UpdateNumbers &numbers) {
  const Lengths lengths =
      numbers.features & MILLE_CPU_AVX512 ? updateWide(stretch, numbers)
      : numbers.features & MILLE_CPU_AVX2 ? updateHalf(stretch, numbers)
                                          : any(stretch, numbers);
  memset(stretch.gradient, 0,
         stretch.count * sizeof(float)); // while it is near
  return lengths;
}

void applyLamb(const Stretch &stretch, const UpdateNumbers &numbers,
               double trust) {
  const float rate = (float)((double)numbers.rate * trust);
  for (uint64_t i = 0; i < stretch.count; ++i)
    stretch.weight[i] -= rate * lambOf(stretch.weight[i], stretch.first[i],
                                       stretch.second[i], numbers);
}

double squareSum(const float *values, uint64_t count, uint64_t features) {
  return features & MILLE_CPU_AVX512 ? sumWide(values, count)
         : features & MILLE_CPU_AVX2 ? sumHalf(values, count)
                                     : anySum(values, count);
}

} // namespace mille
