// Matmul's schedule on a CPU: panel -> tile -> K. A panel stays in L2 over all
// rows: it comes from far memory once, and the input, read again for each
// panel, is the smaller. Must not change what is computed.
#include "compiler/halide/matmul/MatmulPipe.h"
#include "compiler/halide/passes/Chunks.h"
#include "compiler/halide/passes/PipelineTiles.h"
#include "compiler/halide/passes/Prefetch.h"
#include "compiler/halide/passes/TileSums.h"

using namespace Halide;

namespace mille {
namespace {

constexpr int mostTogether =
    8; // rows in tile registers whose values are made first

} // namespace

// So many rows of a tile.
void MatmulPipe::placeTile(Func f, const LoopLevel &at, int rows) {
  f.compute_at(at)
      .bound_extent(ni, tile.columns)
      .bound_extent(a, count)
      .bound_extent(i, rows)
      .bound_extent(t, 1)
      .bound_extent(no, 1);
}

// The same, row by row.
void MatmulPipe::scheduleTile(Func f, const LoopLevel &at, int rows) {
  placeTile(f, at, rows);
  f.vectorize(ni, V).unroll(ni).unroll(a);
}

// The loops stand for the instructions that a pass puts in their place.
void MatmulPipe::sumInTiles() {
  placeTile(product, {pipe.out, tileRows.y}, tile.rows);
  product.store_in(MemoryType::Stack);
  const int bytes = int(bytesOf(s.input.element)),
            across = tile.columns * count / V;
  const int line = group * bytes * panel; // of a group
  TileSums sums{input.name(),
                weight.name(),
                product.name(),
                i.name(),
                tile.rows,
                across,
                group * bytes * (count > 1 ? width : V),
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
  sums.taker = values.defined() ? rowsTogether.name() : tileRows.x.name();
  sums.takerRows = values.defined() ? mostTogether : 1;
  pipe.passes.push_back(sumInTileRegisters(sums));
}

// Values of a group are side by side: one instruction adds them.
void MatmulPipe::scheduleSums() {
  scheduleTile(product, {pipe.out, tileRows.y}, tile.rows);
  product.unroll(i).store_in(MemoryType::Register);
  Var nl(names("nl"));
  if (group > 1)
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

// In tile registers, where a polynomial takes them. A core looks at some 100
// instructions that wait: of all from a sum to the out these are three
// vectors', of the polynomial's six. So they are made first, of eight rows, for
// in one loop over all of them there is no place for the next tile's sums. On a
// Xeon with AMX 768 -> 3072 with GELU takes 7 % less time of 128 rows and 10 %
// of 512, by 4 or 16 rows 4 to 6 %; a single row takes 2 to 4 % more.
void MatmulPipe::scheduleValues() {
  values.store_in(MemoryType::Stack);
  pipe.out.update().split(tileRows.x, rowsTogether, rowOfThese, mostTogether);
  scheduleTile(values, {pipe.out, rowsTogether}, mostTogether);
}

void MatmulPipe::schedule() {
  auto buffer = pipe.out.output_buffer();
  buffer.dim(0).set_min((buffer.dim(0).min() / width) * width);
  if (s.columns % width ==
      0) // no task has a part of a panel, no kernel code for one
    buffer.dim(0).set_extent((buffer.dim(0).extent() / width) * width);
  Var nv(names("nv"));
  pipe.out.update()
      .split(n, no, ni, tile.columns, TailStrategy::GuardWithIf)
      .split(ni, ni, nv, V)
      .reorder(nv, ni, tileRows.x, tileRows.y, no)
      .vectorize(nv);
  if (!apart)
    pipe.out.update().unroll(ni);
  if (parked) {
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
    return sumInTiles();
  scheduleSums();
  if (anyRows)
    pipe.out.update().specialize(whole);
  if (slices == 1 && K % group == 0) // a tile reads all of a panel
    addPasses();
}

// Steps of K in a turn of its loop. Few rows have more forms of it, which are
// code, and bytes without their instruction have more code in each. LLVM
// multiplies and adds pairs without theirs in the order that it likes, in each
// group another.
int MatmulPipe::groupedSteps() const {
  if (!oneInstruction)
    return 1;
  return few ? 2 : 4;
}

// Where the tile's sums wait in the out, a chunk of K is outside of all.
void MatmulPipe::addPasses() {
  const int step = panel * group;
  if (chunk < steps)
    pipe.passes.push_back(
        chunkSums({pipe.out.name(), product.name(), no.name(), chunk}));
  const int bytes = int(bytesOf(s.input.element)), lines = step * bytes / 64;
  pipe.passes.push_back(prefetchPanels(
      {weight.name(), product.name(), no.name(), tileRows.y.name(), bytes,
       step * steps, step * chunk, chunk, lines, groupedSteps(), intoL2}));
  if (pipelined)
    pipe.passes.push_back(
        pipelineTiles({product.name(), parking.name(), no.name(),
                       tileRows.y.name(), tileRows.x.name(), ni.name()}));
}

} // namespace mille
