// The softmax of a group's scores, block of keys by block: online, by powers of
// two. Must not multiply.
#pragma once
#include "compiler/nvvm/AttentionKernel.h"

namespace mille::nvvm {

// What a group keeps of its rows from block to block: of row 0 and of row 8
// below it, the largest score and the sum of weights.
struct SoftmaxRows {
  Regs top, sum;
};

class Softmax {
public:
  Softmax(AttentionKernel &kernel, Reg own, const Fragments &fragments);

  // Before the first block.
  SoftmaxRows begin(const QueryTile &tile);
  // Weights of a block in place of its products, the rows with it, and behind
  // the weights the factors of what was summed before.
  Regs of(const QueryTile &tile, Reg block, const Regs &mask,
          const Regs &products, SoftmaxRows &rows);
  // 1 / sum of weights; of a row that sees no key 0.
  Regs inverse(const SoftmaxRows &rows);

private:
  AttentionKernel &k;
  Builder &b;
  Reg own; // the group's number among those that multiply
  const Fragments &fragments;
  double factor; // of scores, to powers of two
};

} // namespace mille::nvvm
