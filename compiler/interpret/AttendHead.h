// Attention of one head of one sequence in double, for both dialects.
// Must not know their ops or buffers.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace mille::interpreter {

// The keys that a query sees because of its position; 0 means no limit.
struct Sight {
  bool causal = false;
  int64_t left = 0, right = 0; // key j > i - left, j < i + right
  int64_t chunk = 0;           // the same floor(i / chunk)

  Sight(bool causal, std::optional<llvm::ArrayRef<int64_t>> window,
        int64_t chunk)
      : causal(causal), chunk(chunk) {
    if (window && window->size() == 2) {
      left = (*window)[0];
      right = (*window)[1];
    }
  }
  // Every query sees the first `prefix` keys, also if causal.
  bool shows(int64_t i, int64_t j, int64_t prefix = 0) const {
    return (!causal || j <= i || j < prefix) && (left <= 0 || j > i - left) &&
           (right <= 0 || j < i + right) &&
           (chunk <= 0 || i / chunk == j / chunk);
  }
};

// One head of one sequence. Rows of query and out are `...Stride` apart.
struct Head {
  int64_t queries, keys, headDim, valueDim;
  const double *query, *key, *value;
  int64_t queryStride, keyStride, valueStride;
  double *out;
  int64_t outStride;
  double scale = 1, softcap = 0; // softcap 0: none
  const double *sink = nullptr;  // a further score, or none
  // Whether query i sees key j, and the sum to add to its scaled score.
  llvm::function_ref<bool(int64_t, int64_t)> sees;
  llvm::function_ref<double(int64_t, int64_t)> bias;
  // A further factor of query i's scores; absent: 1.
  llvm::function_ref<double(int64_t)> factor;
};

// out[i] = sum of softmax(score)[j] * value[j] over the keys j that i sees; 0
// where it sees none. A key that is not seen is not read.
void attendHead(const Head &head);

// What attendHead's adjoint reads and adds to; rows as those of the head.
struct HeadGradient {
  const double *gradient; // of out
  double *query, *key, *value;
  double sink = 0;
  // Of the score of a key that the query sees, with its biases.
  llvm::function_ref<void(int64_t, int64_t, double)> score;
  // Of a query's factor, without `scale`.
  llvm::function_ref<void(int64_t, double)> factor;
};

// `head.out` is what attendHead has given.
void attendHeadGradient(const Head &head, HeadGradient &into);

// out[i] = sum over the keys j <= i that i sees of exp(-decay (i - j)) scale
// (q_i . k_j) value[j]. A key that is not seen is not read.
void attendLinearly(const Head &head, double decay);

// The same token by token up to `tokens`. sum, [headDim, valueDim], holds the
// sum over the tokens before and becomes that over all; rows from `tokens` on
// are 0.
void attendByToken(const Head &head, double decay, int64_t tokens, double *sum);

} // namespace mille::interpreter
