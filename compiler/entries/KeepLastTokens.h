// Reduces an entry's outputs to the last token of each sequence.
// Must not change ops that read other tokens.
#pragma once
#include "compiler/entries/Slice.h"

namespace mille::entries {

// Outputs [batch, tokens, channels] become [batch, channels]: the row of the
// last unmasked token. It is taken before the ops that compute each token by
// itself, so that these run on one row per sequence.
void keepLastTokens(mlir::func::FuncOp entry);

} // namespace mille::entries
