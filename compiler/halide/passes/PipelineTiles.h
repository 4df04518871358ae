// The epilogue of a matmul's tile beside the next tile's products.
// Private to this room.
#pragma once
#include "Halide.h"

namespace mille {

// The loop nest of a matmul whose tiles park their sums, by the names that its
// pipeline gave.
struct TilePipeline {
  std::string product,
      park; // a tile's sums, in registers and where the epilogue reads them
  std::string panel, tile; // loops, outermost first
  std::string row;         // the epilogue's loop over a tile's rows
  std::string vector;      // in it, over a row's vectors, if that is a loop
};

// To be added to a pipeline with add_custom_lowering_pass, which owns it, after
// prefetchPanels: the products' loop goes in its groups of steps.
Halide::Internal::IRMutator *pipelineTiles(TilePipeline what);

} // namespace mille
