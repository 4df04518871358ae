// Sums of the products of blocks (BlockForm.h) in tile registers (AMX): a pass
// replaces the loops that add products by a call, and BlockTileInstructions.h
// replaces the call by AMX instructions once Halide has made bitcode.
// Must not be included outside of compiler/halide.
#pragma once
#include "Halide.h"

namespace mille {

// The loop nest of sums(lane, accumulator, row, part, block) = input(row, K) *
// weight(K, lane), by the names that the pipeline gave to its parts, for some
// blocks at a time; the input's bytes are signed, the weight's are not. A row
// of sums has 16 lanes for each accumulator. Distances are in bytes.
struct BlockTiles {
  std::string input, weight, sums;
  std::string row;  // the sums' loop over rows; past the last they repeat it
  int tileRows;     // iterations of that loop: 16 or fewer
  int accumulators; // side by side in the weight's lines and in the sums
  int blocks;       // at a time
  int parts, partBytes; // of a block's K, each with sums of its own
  int rowBytes;         // input: from one row to the next
  int groupBytes;       // weight: from 4 bytes of K to the next 4
  int weightBlockBytes; // weight: from one block to the next
};

// The pass that replaces the loops, for add_custom_lowering_pass, which owns
// it.
Halide::Internal::IRMutator *sumBlocksInTileRegisters(BlockTiles what);

} // namespace mille
