// What a trainer of a planned model holds in memory, by the plan's own numbers.
// Must not plan anything.
#pragma once
#include "dialects/transformer/Training.h"
#include "mlir/IR/Operation.h"

namespace mille {

// Bytes of weights, the optimizer's states, gradients and the arena of steps of
// `batch` sequences with `tokens` each; 0 tokens: the most that the model
// takes. What threads hold comes on top.
int64_t trainerBytes(mlir::Operation *model, const Training &training,
                     int64_t batch, int64_t tokens);

// The words of --recompute for a stack of so many layers, those with the least
// work first.
std::vector<std::string> recomputeWords(int64_t layers);

} // namespace mille
