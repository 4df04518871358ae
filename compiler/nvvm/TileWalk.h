// The order in which blocks walk the tiles of a product, all rows' or those of
// each expert. Must not know what is computed for a tile.
#pragma once
#include "compiler/kernels/Spec.h"
#include "compiler/nvvm/Builder.h"

namespace mille::nvvm {

int64_t columnTilesOf(const MatmulSpec &matmul, unsigned columns);
// The tile of rows and the tile of columns that have this number, where
// `group` tiles of rows are near in time.
std::pair<Reg, Reg> placeOfTile(Builder &builder, Reg number, Reg rowTiles,
                                int64_t columnTiles, unsigned group);

// Where a tile begins; of experts, where its rows end, and whose it is.
struct TileOrigin {
  Reg row, column, end, expert;
};

class TileWalk {
public:
  // A tile has so many rows and columns of the out.
  TileWalk(const MatmulSpec &matmul, unsigned rows, unsigned columns,
           unsigned group)
      : matmul(matmul), rows(rows), columns(columns), group(group) {}

  // Of experts, adds where their rows begin to the launch.
  void describe(Launch &launch);
  // Before all of the following.
  void begin(Builder &builder, Reg rowTiles);
  Reg tiles() const { return allTiles; } // not of experts

  // Every `stride`-th tile from `first` on: from a state to the next one.
  using Body = llvm::function_ref<Regs(const TileOrigin &, const Regs &)>;
  Regs each(const Regs &state, Reg first, Reg stride, Body body);

private:
  Regs eachOfExperts(const Regs &state, Reg first, Reg stride, Body body);

  const MatmulSpec &matmul;
  const unsigned rows, columns, group;
  unsigned starts = 0;
  Builder *b = nullptr;
  Reg rowTiles, allTiles;
};

} // namespace mille::nvvm
