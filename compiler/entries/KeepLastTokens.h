// An entry's outputs for the last token of each sequence alone.
// Must not touch what tokens read of each other.
#pragma once
#include "compiler/entries/Slice.h"

namespace mille::entries {

// Outputs [batch, tokens, channels] become [batch, channels]: the row of the
// last token that the entry's mask shows. It is taken before the ops that
// compute each token by itself, so that these run on one row a sequence.
void keepLastTokens(mlir::func::FuncOp entry);

} // namespace mille::entries
