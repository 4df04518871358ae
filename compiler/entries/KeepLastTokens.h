// An entry's outputs for the last token of each sequence alone.
// Must not touch what tokens read of each other.
#pragma once
#include "compiler/entries/Slice.h"

namespace mille::entries {

// Outputs [batch, tokens, channels] become [batch, channels]. The last token,
// which is the last one that the input of default "ones" shows, is taken before
// the ops that compute each token by itself.
void keepLastTokens(mlir::func::FuncOp entry);

} // namespace mille::entries
