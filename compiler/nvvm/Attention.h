// Attention on Hopper in the shape of FlashAttention-3: a producer copies
// queries, keys and values; groups of 64 queries multiply them and take the
// softmax of one block of keys while the products of another run.
// Must not be asked for what `whyNotAttention` declines.
#pragma once
#include "compiler/kernels/Spec.h"
#include "compiler/nvvm/Kernel.h"

#include <optional>

namespace mille::nvvm {

struct AttentionTile {
  unsigned groups = 2;     // of 64 queries, a warp group each
  unsigned keys = 128;     // of a block
  unsigned stages = 2;     // blocks of keys in shared memory, and of values
  bool inTurns = true;     // the groups take turns at the tensor cores
  bool persistent = false; // a block of threads takes one tile after the other
  // All groups have the same 64 queries, and some columns of the values each.
  bool sharesQueries = false;
};

// Best first, by what was measured on an H200 (Attention.cpp).
std::vector<AttentionTile> attentionTiles(const KernelSpec &spec);
std::string wordsOf(const AttentionTile &tile);

// The tile that is better where a sequence has more queries, if there is one.
// It reads keys in the same blocks, so that a row has the same bits.
struct LongTile {
  AttentionTile tile;
  uint32_t mostQueries;
};
std::optional<LongTile> tileOfLong(const KernelSpec &spec);
std::string wordsOfAttention(const KernelSpec &spec);

// Empty if the generator makes it, else the reason.
std::string whyNotAttention(const KernelSpec &spec);

Kernel writeAttention(mlir::MLIRContext &context, const KernelSpec &spec,
                      const AttentionTile &tile, const std::string &entry);

} // namespace mille::nvvm
