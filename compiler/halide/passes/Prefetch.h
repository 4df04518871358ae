// Prefetches of panels and of rows.
// Must not be included outside of compiler/halide.
#pragma once
#include "compiler/halide/instructions/PrefetchInstruction.h"

#include "Halide.h"

namespace mille {

constexpr int lineBytes = 64; // bytes of a cache line
// A stream is prefetched so many bytes ahead of where few rows read it. Half of
// it is up to 3 % slower on a Cascade Lake, up to 10 % on a Zen 5.
constexpr int bytesAhead = 4096;

// Prefetches the line of a buffer's element into L1; an element has `bytes`
// bytes.
inline Halide::Internal::Stmt prefetchLine(const std::string &buffer, int bytes,
                                           const Halide::Expr &element) {
  using namespace Halide::Internal;
  return Evaluate::make(
      Call::make(Halide::UInt(8 * bytes), Call::prefetch,
                 {Variable::make(Halide::Handle(), buffer), element, 1, 1},
                 Call::Intrinsic));
}

// Prefetches the line into L2 only; LLVM must make the object.
inline Halide::Internal::Stmt prefetchLineIntoL2(const std::string &buffer,
                                                 int bytes,
                                                 const Halide::Expr &element) {
  using namespace Halide::Internal;
  return Evaluate::make(Call::make(Halide::Int(32), prefetchIntoL2Name,
                                   {Variable::make(Halide::Handle(), buffer),
                                    Halide::cast<int64_t>(element) * bytes},
                                   Call::Extern));
}

// Prefetches during a tile of a matmul: what the tile reads next of its panel,
// and its share of the panel after it. The loop nest is given by the names that
// its pipeline gave to its parts.
struct PanelPrefetch {
  std::string weight, product;
  std::string panel, tile; // loops, outermost first
  int bytes;               // bytes of an element
  int panelElements;       // elements from a panel to the next
  int pieceElements;       // elements of a panel that one loop over K reads
  int steps;               // steps of K in that loop
  int lines;               // cache lines that a step reads
  int stepsOfGroup;        // steps of K in one iteration
  int linesOfGroup;        // lines of the next panel that it prefetches
  bool ofTile;             // what the tile reads next is prefetched too
  bool intoL2;             // the next panel goes into L2 only, not into L1
  int leastTiles;          // that read a panel where the next one is prefetched
};

// The pass, for add_custom_lowering_pass, which owns it.
Halide::Internal::IRMutator *prefetchPanels(PanelPrefetch what);

// Prefetches a later row in a loop whose iterations read one row each.
struct RowPrefetch {
  std::string buffer, reader; // reader: the Func that the loop computes
  int bytes;                  // bytes of an element
  int steps; // iterations from the row that is read to the later
  // Prefetches only where the first condition of the body holds.
  bool conditional = false;
};
Halide::Internal::IRMutator *prefetchRows(RowPrefetch what);

// Prefetches into L2, while passes over a tile of columns go on, what the first
// pass over the next tile reads of the same rows.
struct NextTilePrefetch {
  std::string buffer, reader, passes; // the variable of the loop over passes
  int bytes;                          // bytes of an element
  int columns;                        // of a tile
  int chunk;                          // rows of a pass
};
Halide::Internal::IRMutator *prefetchNextTile(NextTilePrefetch what);

// Prefetches what a store will read of a buffer some elements further on: far
// ahead, where many others come between one row and the next that it reads.
struct FarPrefetch {
  std::string buffer, writer; // writer: the Func that is stored to
  int bytes;                  // bytes of an element
  int elements;               // from what is read to what is prefetched
  bool intoL2 = false;        // into L2 only, not into L1
};
Halide::Internal::IRMutator *prefetchFar(FarPrefetch what);

// Prefetches into L2, while a loop goes over squares of some rows, from column
// to column, the rows that come two times that many rows later.
struct SquaresPrefetch {
  std::string buffer, squares; // the variable of the loop over squares
  int bytes;                   // bytes of an element
  int rows, columns;           // of a square
  int rowElements;             // from a row to the next

  int elementsAhead() const { return 2 * rows * rowElements; }
  // Whether L2 holds what lies between: else rows are long, and the core's own
  // prefetcher has time to follow each of them.
  bool isNear() const {
    constexpr int64_t most = 256 << 10;
    return 2 * int64_t(rows) * rowElements * bytes <= most;
  }
};
Halide::Internal::IRMutator *prefetchSquares(SquaresPrefetch what);

// Prefetches into L2, in a loop that computes and reads no far memory, the
// first lines of each tile that a later loop reads: memory works meanwhile.
// Both loops are in the loop `together` and go over the same rows, by tiles.
struct AsidePrefetch {
  std::string buffer, reader, readTile; // the later loop, over its tiles
  std::string writer, writeTile;        // the loop that computes
  std::string together;
  int bytes; // bytes of an element
  int tiles; // tiles of the reader in one of the writer
  int lines; // to prefetch for each tile of the writer
};
Halide::Internal::IRMutator *prefetchAside(AsidePrefetch what);

} // namespace mille
