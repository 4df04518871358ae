// The shapes of a run by its sizes, and the sizes that a model has.
// Pure arithmetic; must not overflow in silence.
#pragma once
#include "runtime/Memory.h"
#include "runtime/abi.h"
#include "runtime/mille.h"

namespace mille {

constexpr int64_t runSizes[] = {MILLE_BATCH, MILLE_TOKENS,
                                MILLE_DECODER_TOKENS};

struct Sizes {
  int64_t batch = 0, tokens = 0, decoderTokens = 0;

  // One number of a shape: MILLE_BATCH, ..., or fixed.
  int64_t of(int64_t extent) const;
};

// "batch", "tokens" or "decoder_tokens".
const char *sizeName(int64_t extent);
// Whether a size is in a shape of the model's tensors. Every model has a batch.
bool hasSize(const mille_model &model, int64_t extent);

// Says which of the model's sizes is below 1, in words that begin with
// `prefix`.
mille_status checkSizes(const mille_model &model, const Sizes &sizes,
                        const char *prefix, Message &message);
// "batch 2, tokens 17, decoder_tokens 5": those that the model has.
struct SizesText {
  SizesText(const mille_model &model, const Sizes &sizes);
  char text[128];
};

// Elements of a tensor of a run.
bool countElements(const mille_tensor_info &info, const Sizes &sizes,
                   uint64_t &elements);
// Rows of one sequence in the largest of a run's buffers.
uint64_t longestSequence(const mille_model &model, const Sizes &sizes);
// Rows that a kernel.arena offset is multiplied by. False: too many.
bool paddedRows(const mille_model &model, const Sizes &sizes, uint64_t &rows);

} // namespace mille
