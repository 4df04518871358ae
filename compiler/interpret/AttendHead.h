// Attention of one head of one sequence, in double: what both dialects mean.
// Must not know ops or buffers of either.
#pragma once
#include "compiler/interpret/Numbers.h"

namespace mille::interpreter {

// Which keys a query's place shows it; 0 where there is no such limit.
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
  // The first `prefix` keys are seen in spite of causal.
  bool shows(int64_t i, int64_t j, int64_t prefix = 0) const {
    return (!causal || j <= i || j < prefix) && (left <= 0 || j > i - left) &&
           (right <= 0 || j < i + right) &&
           (chunk <= 0 || i / chunk == j / chunk);
  }
};

// What a length_scale makes of a query: token i of its sequence, which sees
// `seen` keys and has the position id `position`.
double lengthFactor(transformer::LengthScaleAttr scale, int64_t seen, int64_t i,
                    double position);

// One head of one sequence. Rows of query and out are `...Stride` apart.
struct Head {
  int64_t queries, keys, headDim, valueDim;
  const double *query, *key, *value;
  int64_t queryStride, keyStride, valueStride;
  double *out;
  int64_t outStride;
  double scale = 1, softcap = 0; // softcap 0: none
  const double *sink = nullptr;  // a further score, or none
  // Whether query i sees key j, and what is added to its scaled score.
  llvm::function_ref<bool(int64_t, int64_t)> sees;
  llvm::function_ref<double(int64_t, int64_t)> bias;
  // A factor of query i's scores beside scale; absent: 1.
  llvm::function_ref<double(int64_t)> factor;
};

// out[i] = sum of softmax(score)[j] * value[j] over the keys j that i sees; 0
// where it sees none. A key that is not seen is not read.
void attendHead(const Head &head);

// out[i] = sum over the keys j <= i that i sees of exp(-decay (i - j)) scale
// (q_i . k_j) value[j]. A key that is not seen is not read.
void attendLinearly(const Head &head, double decay);

// The same token by token up to `tokens`, where sum [headDim, valueDim] is of
// the tokens before and becomes that of all; rows from `tokens` on are 0.
void attendByToken(const Head &head, double decay, int64_t tokens, double *sum);

// The sequences and heads that linear attention with a state goes through.
struct Recurrence {
  Head head;
  int64_t heads;
  const Tensor &past; // [batch]
  std::vector<double> decay;
  // Points the head at head h of sequence b, and how many tokens count there.
  llvm::function_ref<void(int64_t, int64_t)> enter;
  llvm::function_ref<int64_t(int64_t)> tokensOf;
};

// The tokens of a sequence up to the last one that the mask (null: all ones)
// shows.
int64_t tokensShown(const Tensor *mask, int64_t sequence, int64_t tokens);

} // namespace mille::interpreter
