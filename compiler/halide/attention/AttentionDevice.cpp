// Attention's schedule on a device: a work-group has a query block of one head.
// Scores and weights of all its keys lie in the device's memory; queries and
// the values of which each query has one lie in the group's local memory.
// Must not change what is computed.
#include "compiler/halide/attention/AttentionPipe.h"
#include "compiler/halide/device/Device.h"

using namespace Halide;

namespace mille {
namespace {

constexpr int itemQueries = 8; // queries of a work-item, side by side
// Work-items of a group.
constexpr int across = AttentionPipe::mostQueries / itemQueries,
              down = AttentionPipe::items;

} // namespace

// One call has all sequences: in every function h says which.
void AttentionPipe::placeSequences() {
  sequence = h / int(s.heads);
  head = h % int(s.heads);
  row0 = sequence * queries;
  rowLast = row0 + queries - 1;
  keyRow = sequence * keys;
  if (past.defined())
    first = s.causal ? past(sequence) : Expr(0);
  position0 = first - row0;
}

// The tiles of work-item u: every eighth of a block's tiles.
RDom AttentionPipe::tilesOfItem(const char *name) const {
  RDom r(0, (tileCount() + items - 1) / items, names(name));
  r.where(r * items + u < tileCount());
  restrictTiles(r, r * items + u, seenByBlock(b));
  return r;
}

// Spreads the elements of a function over the work-items of a group, by two of
// its loops.
static void spread(Stage stage, VarOrRVar x, VarOrRVar y) {
  VarOrRVar xo(x.name() + "_o", x.is_rvar), yo(y.name() + "_o", y.is_rvar);
  VarOrRVar xi(x.name() + "_item", x.is_rvar),
      yi(y.name() + "_item", y.is_rvar);
  stage.split(x, xo, xi, across, TailStrategy::GuardWithIf)
      .split(y, yo, yi, down, TailStrategy::GuardWithIf)
      .reorder(xo, yo, xi, yi)
      .gpu_threads(xi, yi);
}

Func AttentionPipe::inGroup(Func f) const { return f.compute_at(pipe.out, qo); }

void AttentionPipe::scheduleOnDevice() {
  const int columns = lanesFor(int(s.valueDim), itemQueries);
  scheduleOutOnDevice(columns);
  scheduleQueriesOnDevice();
  RVar tile = scheduleTilesOnDevice(scores, tileScores, scoreTile);
  inTileOnDevice(dots, scores, tile);
  dots.update().reorder(q, ki, depth).vectorize(q).unroll(ki);
  if (!isLinear())
    scheduleSoftmaxOnDevice();
  mixed.compute_at(pipe.out, d)
      .store_in(MemoryType::Register)
      .bound_extent(q, mixedTile.rows)
      .bound_extent(d, columns)
      .vectorize(d)
      .unroll(q);
  for (size_t i = 0; i < mixedKeys.size(); ++i)
    mixed.update(int(i))
        .reorder(d, q, mixedKeys[i], mixedTiles[i])
        .vectorize(d)
        .unroll(q);
}

void AttentionPipe::scheduleOutOnDevice(int columns) {
  const int width = int(s.valueDim), heads = int(s.heads);
  Var qm(names("qm")), qi(names("qi")), di(names("di")), dt(names("dt"));
  auto buffer = pipe.out.output_buffer();
  buffer.dim(0).set_bounds(0, width);
  buffer.dim(1).set_min(0).set_stride(int(spec.out.rowStride));
  buffer.dim(2).set_bounds(0, heads).set_stride(width);
  buffer.dim(3).set_min(0);
  pipe.out.bound(d, 0, width)
      .bound(h, 0, heads)
      .split(m, qo, qm, queryBlock, TailStrategy::GuardWithIf)
      .split(qm, qm, qi, mixedTile.rows)
      .split(d, d, di, columns)
      .split(d, d, dt, across, TailStrategy::GuardWithIf)
      .reorder(di, qi, d, dt, qm, qo, h, z)
      .vectorize(di)
      .unroll(qi)
      .gpu_blocks(qo, h, z)
      .gpu_threads(dt, qm);
}

void AttentionPipe::scheduleQueriesOnDevice() {
  inGroup(queriesAcross)
      .bound_extent(q, queryBlock)
      .store_in(MemoryType::GPUShared);
  spread(queriesAcross, d, q);
  if (s.has(Operand::rotation)) {
    turnedKey.rows.compute_at(pipe.out, qo)
        .store_in(MemoryType::Heap)
        .bound(turnedKey.rows.args()[turnedKey.isWhole() ? 2 : 1], 0, keys);
    turnedKey.spread(spread);
    if (!turnedQuery.isWhole()) {
      turnedQuery.rows.compute_at(pipe.out, qo).store_in(MemoryType::GPUShared);
      turnedQuery.spread(spread);
    }
  }
}

// The keys of a tile in registers; `of` has one row more, their combination.
void AttentionPipe::inTileOnDevice(Func f, Func of, const RVar &tile) const {
  f.compute_at(of, tile)
      .store_in(MemoryType::Register)
      .bound_extent(ki, keyTile)
      .bound_extent(ko, 1)
      .bound_extent(q, itemQueries)
      .vectorize(q)
      .unroll(ki);
}

// Gives a work-item some queries and every eighth tile of keys: `f` holds all
// tiles, `tileOf` one tile in registers. Returns the loop over a work-item's
// tiles.
RVar AttentionPipe::scheduleTilesOnDevice(Func f, Func tileOf,
                                          const RVar &tile) const {
  Var qt(names("q_item")), qs(names("q_side"));
  RVar to(tile.name() + "_o"), ti(tile.name() + "_item");
  // All keys, whichever the group sees: every group has the same amount of
  // memory.
  inGroup(f)
      .bound_extent(q, queryBlock)
      .bound_extent(ki, keyTile + 1)
      .bound(ko, 0, (keys + keyTile - 1) / keyTile)
      .store_in(MemoryType::Heap);
  f.update()
      .split(tile, to, ti, down, TailStrategy::GuardWithIf)
      .split(q, qt, qs, itemQueries)
      .reorder(qs, ki, to, qt, ti)
      .vectorize(qs)
      .unroll(ki)
      .gpu_threads(qt, ti)
      .partition(to, Partition::Never); // half the code
  inTileOnDevice(tileOf, f, to);
  return to;
}

void AttentionPipe::scheduleSoftmaxOnDevice() {
  Var qt(names("q_item")), qs(names("q_side"));
  // Every work-item does a part. (PoCL 3.1 miscompiles a group of which a
  // single work-item loops for eight.)
  auto queriesOf = [&](Stage stage) -> Stage {
    return stage.split(q, qt, qs, itemQueries).vectorize(qs);
  };
  for (auto &[parts, tile] :
       {std::pair<Func, RVar>{tops, topTile}, {sums, sumTile}}) {
    inGroup(parts)
        .bound_extent(q, queryBlock)
        .bound_extent(u, down)
        .store_in(MemoryType::GPUShared);
    queriesOf(parts).gpu_threads(qt, u);
    queriesOf(Func(parts).update()).reorder(qs, tile, qt, u).gpu_threads(qt, u);
  }
  auto ofGroup = [&](Func f) {
    inGroup(f).bound_extent(q, queryBlock).store_in(MemoryType::GPUShared);
    queriesOf(f).gpu_threads(qt);
  };
  ofGroup(top);
  ofGroup(sum);
  scheduleTilesOnDevice(weights, tileWeights, weightTile);
  ofGroup(inverse);
}

} // namespace mille
