// Attention of a run's rows to the keys of a state, on Hopper: one token of
// many sequences, or a prompt behind what is held. A tile has 64 rows: queries,
// and all heads of a key head side by side, so that a key is read once.
//
// Keys are summed in stretches, whose sums are added in order. So a row has the
// same bits whether one block of threads takes all stretches of a tile or each
// has a block of its own, and whichever rows are beside it: what a row does not
// see changes nothing.
// Must not be asked for what `whyNotStateAttention` declines.
#pragma once
#include "compiler/kernels/Spec.h"
#include "compiler/nvvm/Kernel.h"

namespace mille::nvvm {

// The most rows of a run whose tiles' stretches have blocks of their own: with
// more there are enough tiles.
constexpr unsigned splitRows = 64;

// Empty if the generator makes it, else the reason.
std::string whyNotStateAttention(const KernelSpec &spec);
std::string wordsOfStateAttention(const KernelSpec &spec);

// few: for at most splitRows rows.
Kernel writeStateAttention(mlir::MLIRContext &context, const KernelSpec &spec,
                           bool few, const std::string &entry);

} // namespace mille::nvvm
