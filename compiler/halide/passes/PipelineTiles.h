// Software pipelining of a matmul's tiles: the epilogue of a tile runs between
// the products of the next tile.
// Must not be included outside of compiler/halide.
#pragma once
#include "Halide.h"

namespace mille {

// The loop nest of a matmul whose tiles park their sums, by the names that its
// pipeline gave.
struct TilePipeline {
  std::string product;     // a tile's sums in registers
  std::string park;        // their copy in L1, which the epilogue reads
  std::string panel, tile; // the loops, outermost first
  std::string row;         // the epilogue's loop over a tile's rows
  std::string vector;      // inside it, the loop over a row's vectors, if any
  int rowsTogether = 1;    // of a piece; it divides a tile's rows
};

// The pass, for add_custom_lowering_pass, which owns it. It must follow
// prefetchPanels, which splits the loop over K into groups of steps.
Halide::Internal::IRMutator *pipelineTiles(TilePipeline what);

} // namespace mille
