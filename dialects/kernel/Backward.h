// The outs of attention's backward pass, and the tokens of biases by pair.
#pragma once
#include "dialects/kernel/Kernel.h"

namespace mille::kernel {

// What an out of attention_backward is the gradient of.
enum class GradientOf { key, value, key_head_bias, bias, sink, query };
struct BackwardPart {
  GradientOf of;
  int64_t columns, heads; // the columns of a head
};
// In the order of the op's outs.
llvm::SmallVector<BackwardPart> partsOf(AttentionBackwardOp op);
// The one of the op's results that is the gradient of `of`; null: none is.
mlir::Value resultOf(AttentionBackwardOp op, GradientOf of);

// The tokens of a sequence that have `pairs` pairs; 0: no number of them has.
int64_t tokensOfPairs(int64_t pairs);

} // namespace mille::kernel
