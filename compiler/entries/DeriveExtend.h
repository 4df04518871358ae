// The entry `extend` of a decoder: its tokens go behind those of earlier runs.
// Must not know a family: what looks back is an op.
#pragma once
#include "compiler/entries/Slice.h"

namespace mille::entries {

// Why `forward` cannot be extended; empty where it can.
std::string whyNotExtend(mlir::func::FuncOp forward);

// Adds the entry `extend`. Each value that queries read of other tokens is
// remembered in a state; positions go on from the input `past`.
mlir::func::FuncOp deriveExtend(mlir::func::FuncOp forward);

// Adds the entry `next`: as `extend`, with the same states, but its outputs are
// those of each sequence's last token, [batch, channels]. What every token
// computes by itself after the last layer, such as the head, runs on that one.
mlir::func::FuncOp deriveNext(mlir::func::FuncOp forward);

} // namespace mille::entries
