// Derives the entry `extend` of a decoder, whose tokens continue those of
// earlier runs. Must not know a family: only ops matter.
#pragma once
#include "compiler/entries/DeriveEntries.h"
#include "compiler/entries/DeriveParts.h"

namespace mille::entries {

// The reason why the decoder cannot be extended; empty if it can. It is a part
// of `forward`: all of it, or what stands beside an encoder.
std::string whyNotExtend(mlir::func::FuncOp forward, const EntryPart &decoder);

// Adds the entry `extend`. Each value that queries read from other tokens is
// kept in a state; positions continue from the input `past`. What they read of
// an encoder's tokens is what the entry `source` remembered. `latent`: what
// states hold of keys and values that are made of few channels.
mlir::func::FuncOp deriveExtend(mlir::func::FuncOp forward,
                                const EntryPart &decoder, LatentRows latent);

// Adds the entry `next`: like `extend`, with the same states, but its outputs
// are those of each sequence's last token, [batch, channels]. Ops after the
// last layer that compute each token by itself, such as the head, run on that
// token only.
mlir::func::FuncOp deriveNext(mlir::func::FuncOp forward,
                              const EntryPart &decoder, LatentRows latent);

} // namespace mille::entries
