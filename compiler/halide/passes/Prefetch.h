// What kernels ask for before they read it. Private to this room.
#pragma once
#include "compiler/halide/instructions/PrefetchInstruction.h"

#include "Halide.h"

namespace mille {

constexpr int lineBytes = 64; // of a cache

// Asks for the line of a buffer's element, into L1; of so many bytes are all of
// them.
inline Halide::Internal::Stmt askFor(const std::string &buffer, int bytes,
                                     const Halide::Expr &element) {
  using namespace Halide::Internal;
  return Evaluate::make(
      Call::make(Halide::UInt(8 * bytes), Call::prefetch,
                 {Variable::make(Halide::Handle(), buffer), element, 1, 1},
                 Call::Intrinsic));
}

// The same into L2 alone, where LLVM makes the object.
inline Halide::Internal::Stmt askForInL2(const std::string &buffer, int bytes,
                                         const Halide::Expr &element) {
  using namespace Halide::Internal;
  return Evaluate::make(Call::make(Halide::Int(32), prefetchIntoL2Name,
                                   {Variable::make(Halide::Handle(), buffer),
                                    Halide::cast<int64_t>(element) * bytes},
                                   Call::Extern));
}

// While a tile of a matmul is computed, what it reads next of its panel, and
// its share of the panel that follows. The loop nest is by the names that its
// pipeline gave.
struct PanelPrefetch {
  std::string weight, product;
  std::string panel, tile; // loops, outermost first
  int bytes;               // of an element
  int panelElements;       // from a panel to the next
  int pieceElements;       // what of a panel is read at a time
  int steps;               // of K, a vector of each tile column, in that
  int lines;               // of a cache that a step reads
  int grouped;             // steps of a group
  bool intoL2;             // the panel that follows, not into L1 too
};

// To be added to a pipeline with add_custom_lowering_pass, which owns it.
Halide::Internal::IRMutator *prefetchPanels(PanelPrefetch what);

// In a loop that reads vectors of one row in each step: those of a later row.
struct RowPrefetch {
  std::string buffer, reader; // the Func whose loop it is
  int bytes;                  // of an element
  int steps;                  // to the later row
};
Halide::Internal::IRMutator *prefetchRows(RowPrefetch what);

} // namespace mille
