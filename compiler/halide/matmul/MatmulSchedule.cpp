// Matmul's schedule on a CPU: loops over panels, over tiles, over K. A panel
// stays in L2 while all rows pass: it is read from far memory once, and the
// input, which is read again for each panel, is the smaller of the two.
// Must not change what is computed.
#include "compiler/halide/matmul/MatmulPipe.h"
#include "compiler/halide/passes/Chunks.h"
#include "compiler/halide/passes/PipelineTiles.h"
#include "compiler/halide/passes/Prefetch.h"
#include "compiler/halide/passes/TileSums.h"

using namespace Halide;

namespace mille {
namespace {

// Rows of tile registers that are dequantised before the epilogue reads them.
constexpr int rowsOfGroup = 8;

// Tiles that read a panel, from which on a second stream is worth its while
// where memory wants one (PrefetchPanels.cpp has the figures).
constexpr int tilesOfSecondStream = 2;

} // namespace

// Computes f tile by tile, with `rows` rows of the tile.
void MatmulPipe::placeTile(Func f, const LoopLevel &at, int rows) {
  f.compute_at(at)
      .bound_extent(ni, tile.columns)
      .bound_extent(a, accumulators)
      .bound_extent(i, rows)
      .bound_extent(t, 1)
      .bound_extent(no, 1);
}

// As placeTile, with the columns in vectors.
void MatmulPipe::scheduleTile(Func f, const LoopLevel &at, int rows) {
  placeTile(f, at, rows);
  f.vectorize(ni, V).unroll(ni).unroll(a);
}

// The loops are placeholders: a pass replaces them by AMX instructions.
void MatmulPipe::sumInTiles() {
  placeTile(product, {pipe.out, tileRows.y}, tile.rows);
  product.store_in(MemoryType::Stack);
  const int bytes = int(bytesOf(s.input.element)),
            across = tile.columns * accumulators / V;
  const int line = group * bytes * panel; // bytes of a group of K
  TileSums sums{input.name(),
                weight.name(),
                product.name(),
                i.name(),
                tile.rows,
                across,
                group * bytes * (accumulators > 1 ? width : V),
                int(s.input.rowStride) * bytes,
                64,
                line,
                16 * line,
                K * bytes,
                "",
                s.ofBytes(),
                false};
  sums.panelBytes = line * steps;
  sums.slices = slices;
  sums.panel = no.name();
  sums.tile = tileRows.y.name();
  sums.epilogue = values.defined() ? rowGroup.name() : tileRows.x.name();
  sums.epilogueRows = values.defined() ? rowsOfGroup : 1;
  pipe.passes.push_back(sumInTileRegisters(sums));
}

void MatmulPipe::scheduleWideRows() {
  wide.compute_at(pipe.out, tileRows.y)
      .bound_extent(i, tile.rows)
      .bound_extent(t, 1)
      .store_in(MemoryType::Heap);
  // A register holds twice as many integers of 16 bits.
  wide.update().vectorize(wideRows.x, inHalves ? 4 * V : V,
                          TailStrategy::GuardWithIf);
}

// The values of a group of K lie side by side: one instruction adds their
// products.
void MatmulPipe::scheduleSums() {
  if (inHalves)
    return scheduleHalves();
  scheduleTile(product, {pipe.out, tileRows.y}, tile.rows);
  product.unroll(i).store_in(MemoryType::Register);
  Var nl(names("nl"));
  if (widens) {
    scheduleWideRows();
    product.update(0)
        .reorder(ni, a, i, no, k.y, k.x)
        .vectorize(ni, V)
        .unroll(ni)
        .unroll(a)
        .unroll(k.y);
  } else if (group > 1)
    product.update(0)
        .split(ni, ni, nl, V)
        .reorder(k.y, nl, ni, a, i, no, k.x)
        .atomic()
        .vectorize(k.y)
        .vectorize(nl)
        .unroll(ni)
        .unroll(a);
  else
    product.update(0)
        .reorder(ni, a, i, no, k.x)
        .vectorize(ni, V)
        .unroll(ni)
        .unroll(a);
  product.update(0).unroll(i);
  if (K % group)
    product.update(1)
        .reorder(ni, a, i, no, rest.x)
        .vectorize(ni, V)
        .unroll(ni)
        .unroll(a)
        .unroll(i);
}

// Sums of tile registers are dequantised in a loop of their own where the
// epilogue has a polynomial. A core's scheduler holds some 100 waiting
// instructions: that is three vectors where one loop does all from the sum to
// the out, and six where the loop holds the polynomial alone. The first loop
// makes the values of eight rows: were it a loop over all rows of the tile, the
// next tile's products could not come between. On a Xeon with AMX 768 -> 3072
// with GELU takes 7 % less time at 128 rows and 10 % at 512; groups of 4 or 16
// rows gain 4 to 6 %; a single row takes 2 to 4 % more.
void MatmulPipe::scheduleValues() {
  values.store_in(MemoryType::Stack);
  pipe.out.update().split(tileRows.x, rowGroup, rowInGroup, rowsOfGroup);
  scheduleTile(values, {pipe.out, rowGroup}, rowsOfGroup);
}

void MatmulPipe::schedule() {
  auto buffer = pipe.out.output_buffer();
  buffer.dim(0).set_min((buffer.dim(0).min() / width) * width);
  // No task has a part of a panel: no code for a partial panel is made.
  if (s.columns % width == 0)
    buffer.dim(0).set_extent((buffer.dim(0).extent() / width) * width);
  Var nv(names("nv"));
  pipe.out.update()
      .split(n, no, ni, tile.columns, TailStrategy::GuardWithIf)
      .split(ni, ni, nv, V)
      .reorder(nv, ni, tileRows.x, tileRows.y, no)
      .vectorize(nv);
  if (!vectorPieces)
    pipe.out.update().unroll(ni);
  if (inHalves) {
    parkSlices();
  } else if (parksSums) {
    scheduleTile(parking, {pipe.out, tileRows.y}, tile.rows);
    parking.unroll(i).store_in(MemoryType::Stack);
  } else if (!inTiles) {
    pipe.out.update().unroll(tileRows.x);
  }
  if (values.defined())
    scheduleValues();
  if (shifts.defined())
    shifts.compute_root()
        .bound(l, 0, V)
        .bound(part, 0, group)
        .vectorize(l)
        .store_in(MemoryType::Stack);
  if (inTiles)
    return s.ofBlocks() ? scheduleBlockTiles() : sumInTiles();
  s.ofBlocks() ? scheduleBlocks() : scheduleSums();
  // A small weight's kernel has one copy of the loops, which asks in each tile.
  if (hasShortTiles && !isSmall)
    pipe.out.update().specialize(lastIsWhole);
  // A weight in blocks is one stream (scheduleBlocks).
  if (slices == 1 && K % group == 0 && !inHalves &&
      !s.ofBlocks()) // a tile reads the whole panel
    addPasses();
}

// How many steps of K one iteration of the loop over K holds. The kernel of few
// rows has more copies of that loop, so its iterations are shorter, and so are
// those of a small weight.
int MatmulPipe::groupedSteps() const { return fewRows || isSmall ? 2 : 4; }

// Lines of the next panel that an iteration prefetches. More lines gain nothing
// on cores that prefetch for the tile too, even where there are too few tiles
// to prefetch the whole panel; fewer lines lose there.
int MatmulPipe::prefetchedLines() const { return foresees && fewRows ? 3 : 2; }

// In pieces of K the sums wait in the out, and the loop over pieces is the
// outermost.
void MatmulPipe::addPasses() {
  const int step = readsWords ? panel : panel * group;
  if (chunk < steps)
    pipe.passes.push_back(
        chunkSums({pipe.out.name(), product.name(), no.name(), chunk}));
  const int bytes = int(bytesOf(s.input.element)) * (readsWords ? group : 1),
            lines = step * bytes / 64;
  pipe.passes.push_back(prefetchPanels(
      {weight.name(), product.name(), no.name(), tileRows.y.name(), bytes,
       step * steps, step * chunk, chunk, lines, groupedSteps(),
       prefetchedLines(), !foresees, prefetchesIntoL2,
       oneStream && fewRows ? tilesOfSecondStream : 1}));
  if (pipelined)
    pipe.passes.push_back(pipelineTiles(
        {product.name(), parking.name(), no.name(), tileRows.y.name(),
         tileRows.x.name(), ni.name(), rowsOfPiece}));
  prefetchExtras();
}

// While a tile's epilogue reads a row of the run, memory brings that of the
// next tile: its rows lie too far apart for the hardware to foresee.
void MatmulPipe::prefetchExtras() {
  for (size_t i = 0; i < s.extras.size(); ++i)
    if (s.extras[i].reading == Reading::element && !fewRows)
      pipe.passes.push_back(prefetchFar(
          {extraName(i), pipe.out.name(), int(bytesOf(s.extras[i].element)),
           tile.rows * int(s.extras[i].rowStride)}));
}

} // namespace mille
