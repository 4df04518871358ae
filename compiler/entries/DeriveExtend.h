// Derives the entry `extend` of a decoder, whose tokens continue those of
// earlier runs. Must not know a family: only ops matter.
#pragma once
#include "compiler/entries/Slice.h"

namespace mille::entries {

// The reason why `forward` cannot be extended; empty if it can.
std::string whyNotExtend(mlir::func::FuncOp forward);

// Adds the entry `extend`. Each value that queries read from other tokens is
// kept in a state; positions continue from the input `past`.
mlir::func::FuncOp deriveExtend(mlir::func::FuncOp forward);

// Adds the entry `next`: like `extend`, with the same states, but its outputs
// are those of each sequence's last token, [batch, channels]. Ops after the
// last layer that compute each token by itself, such as the head, run on that
// token only.
mlir::func::FuncOp deriveNext(mlir::func::FuncOp forward);

} // namespace mille::entries
