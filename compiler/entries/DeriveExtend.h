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

} // namespace mille::entries
