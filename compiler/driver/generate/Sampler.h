// The next token of a sequence, drawn from its logits.
// Must not know what a token says.
#pragma once
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace mille {

// How a token is drawn: first the penalty, then the temperature, then what
// top-k, top-p and min-p leave, then a draw. Ties go to the lowest id.
struct Sampling {
  double temperature = 0.8;   // 0: the largest logit
  int64_t topK = 40;          // 0: all
  double topP = 0.95;         // in (0, 1]: the fewest that have this much
  double minP = 0.05;         // in [0, 1): of the likeliest one's share
  double repeatPenalty = 1.0; // > 0: of ids that the sequence holds already
  uint64_t seed = 0;
};

// The id drawn from `logits` for place `position` of a sequence that holds
// `held`. It depends on nothing else: not on other draws, not on a state.
int32_t sample(const Sampling &sampling, llvm::ArrayRef<float> logits,
               llvm::ArrayRef<int32_t> held, uint64_t position);

} // namespace mille
