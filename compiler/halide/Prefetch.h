// While a tile is computed, asks for a piece of the panel that comes next.
// Private to this room.
#pragma once
#include "Halide.h"

namespace mille {

// The loop nest of a matmul, by the names that its pipeline gave.
struct PanelPrefetch {
  std::string weight, product;
  std::string panel, tile; // loops, outermost first
  int bytes;               // of an element
  int panelElements;       // from a panel to the next
  int pieceElements;       // what of a panel is read at a time
  int steps;               // of K, a vector of each tile column, in that
  // Cache lines that a tile asks for in a step, where there are tiles enough to ask for
  // all and where there are not: with fewer rows each does more of the next panel.
  int lines, linesAlone;
};

// To be added to a pipeline with add_custom_lowering_pass, which owns it.
Halide::Internal::IRMutator *prefetchPanels(PanelPrefetch what);

} // namespace mille
