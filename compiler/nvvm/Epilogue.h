// The end of a matmul's tile: sums through the op's region to the out, panel by
// panel of 128 bytes. Must not issue products.
#pragma once
#include "compiler/nvvm/ByteSums.h"
#include "compiler/nvvm/Carrier.h"
#include "compiler/nvvm/Extras.h"
#include "compiler/nvvm/Fragments.h"
#include "compiler/nvvm/Region.h"

namespace mille::nvvm {

class MatmulEpilogue {
public:
  struct Place {
    Reg shared, group, thread, rows; // group: 1, 2; rows of the out
  };

  // Adds what it needs to the launch.
  MatmulEpilogue(const KernelSpec &spec, const MatmulTile &tile,
                 const MatmulLayout &layout, Launch &launch);
  void prefetchMaps(Builder &builder);

  // Of consumer group `which`, from 0, where the layout has slots.
  Ring panelRing(Builder &builder, Reg shared, Reg which);
  Carrier carrier(Builder &builder, Reg shared, Reg which);

  void begin(Builder &builder, const Place &place, Fragments &fragments);
  // The tiles that follow are of this expert, whose rows end there.
  void enter(Reg expert, Reg end) {
    extras.enter(expert, end);
    bytes.enter(expert, end);
  }
  // Reads what a tile from this row and column on needs first, of so many
  // blocks of 64 rows. Before the wait for the last products, so that it takes
  // no time of its own.
  void prepare(Reg row, Reg column, unsigned blocks);
  // The sums of that tile, from this place in the ring of panels on. Gives the
  // place after it.
  RingState write(const std::vector<Regs> &sums, Reg row, Reg column,
                  RingState state);

private:
  // What the elements of a panel's block need; [extra][...].
  using Columns = std::vector<std::vector<Regs>>; // [extra][8 columns] two
  struct Read {
    Columns columns;                     // of a panel
    std::vector<std::vector<Regs>> rows; // [extra][block] two
    Regs scalars;                        // [extra]
    Reg slot;                            // of the panel, in the ring
  };
  using Values = std::vector<Regs>; // [8 columns], registers as of a sum

  // Whether registers have room for the columns of the next panel.
  bool readsAhead() const { return tile.columns * tile.blocks <= 256; }
  Columns columnsAt(Reg column);
  Values elementsOf(unsigned extra, Reg row, Reg column);
  // The four numbers that a thread's sums of 8 columns stand for.
  Regs numbersOf(const Regs &sums, unsigned accumulator,
                 llvm::ArrayRef<ByteSums::Row> two,
                 const ByteSums::Columns &columns, unsigned further);
  Values computePanel(const Regs &sums, unsigned panel, unsigned block, Reg row,
                      Reg column);
  void stage(const Values &values);
  void storeDirectly(const Values &values, Reg row, Reg column);

  const KernelSpec &spec;
  const MatmulTile tile;
  const MatmulLayout layout;
  Extras extras;
  ByteSums bytes;
  unsigned extraMap = 0, outMap = 0;
  Builder *b = nullptr;
  Place place;
  Fragments *fragments = nullptr;
  std::optional<Ring> ring; // of panels
  std::optional<Region> region;
  Read read;
};

} // namespace mille::nvvm
