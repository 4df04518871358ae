// Attention's schedule on a device: a work-group for a block of queries of a
// head; scores and weights of all its keys lie in the device's memory, queries
// and what there is one of for each query in the group's.
#include "compiler/halide/attention/AttentionPipe.h"
#include "compiler/halide/device/Device.h"

using namespace Halide;

namespace mille {

// All sequences at once: h, in every function, says which.
void AttentionPipe::placeSequences() {
  sequence = h / int(s.heads);
  head = h % int(s.heads);
  row0 = sequence * queries;
  rowLast = row0 + queries - 1;
  keyRow = sequence * keys;
  position0 = first - row0;
}

// Of the tiles of a block, every eighth: those of work-item u.
RDom AttentionPipe::tilesOfItem(const char *name) const {
  RDom r(0, (tileCount() + items - 1) / items, names(name));
  r.where(r * items + u < tileCount());
  restrictTiles(r, r * items + u, seenByBlock(b));
  return r;
}

void AttentionPipe::scheduleOnDevice() {
  constexpr int together = 8; // queries of an item, side by side
  constexpr int across = mostQueries / together, down = items; // of a group
  const int width = int(s.valueDim), heads = int(s.heads);
  Var qm(names("qm")), qi(names("qi")), di(names("di")), dt(names("dt"));
  auto buffer = pipe.out.output_buffer();
  buffer.dim(0).set_bounds(0, width);
  buffer.dim(1).set_min(0).set_stride(int(spec.out.rowStride));
  buffer.dim(2).set_bounds(0, heads).set_stride(width);
  buffer.dim(3).set_min(0);
  const int columns = lanesFor(width, together);
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

  // Every element of `f` by an item, two loops of it over the group's.
  auto spread = [&](Stage stage, VarOrRVar x, VarOrRVar y) {
    VarOrRVar xo(x.name() + "_o", x.is_rvar), yo(y.name() + "_o", y.is_rvar);
    VarOrRVar xi(x.name() + "_item", x.is_rvar),
        yi(y.name() + "_item", y.is_rvar);
    stage.split(x, xo, xi, across, TailStrategy::GuardWithIf)
        .split(y, yo, yi, down, TailStrategy::GuardWithIf)
        .reorder(xo, yo, xi, yi)
        .gpu_threads(xi, yi);
  };
  auto inGroup = [&](Func f) { return f.compute_at(pipe.out, qo); };

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

  // An item has some queries and every eighth tile of keys.
  Var qt(names("q_item")), qs(names("q_side"));
  auto plane = [&](Func f, const RVar &tile) {
    RVar to(tile.name() + "_o"), ti(tile.name() + "_item");
    // All keys, whatever a group sees: groups' pieces of memory are of one
    // size.
    inGroup(f)
        .bound_extent(q, queryBlock)
        .bound_extent(ki, keyTile + 1)
        .bound(ko, 0, (keys + keyTile - 1) / keyTile)
        .store_in(MemoryType::Heap);
    f.update()
        .split(tile, to, ti, down, TailStrategy::GuardWithIf)
        .split(q, qt, qs, together)
        .reorder(qs, ki, to, qt, ti)
        .vectorize(qs)
        .unroll(ki)
        .gpu_threads(qt, ti)
        .partition(to, Partition::Never); // half the code
    return to;
  };
  // A tile's keys in registers; what they combine to is one row more.
  auto inTile = [&](Func f, Func of, const RVar &tile) {
    f.compute_at(of, tile)
        .store_in(MemoryType::Register)
        .bound_extent(ki, keyTile)
        .bound_extent(ko, 1)
        .bound_extent(q, together)
        .vectorize(q)
        .unroll(ki);
  };
  RVar tile = plane(scores, scoreTile);
  inTile(tileScores, scores, tile);
  inTile(dots, scores, tile);
  dots.update().reorder(q, ki, depth).vectorize(q).unroll(ki);
  if (!isLinear()) {
    // An item has a part of each. (One item looping for eight, as a group's
    // only one, is what PoCL 3.1 gets wrong.)
    auto queriesOf = [&](Stage stage) -> Stage {
      return stage.split(q, qt, qs, together).vectorize(qs);
    };
    for (auto &[parts, tile] :
         {std::pair<Func, RVar>{tops, topTile}, {sums, sumTile}}) {
      inGroup(parts)
          .bound_extent(q, queryBlock)
          .bound_extent(u, down)
          .store_in(MemoryType::GPUShared);
      queriesOf(parts).gpu_threads(qt, u);
      queriesOf(Func(parts).update())
          .reorder(qs, tile, qt, u)
          .gpu_threads(qt, u);
    }
    auto ofGroup = [&](Func f) {
      inGroup(f).bound_extent(q, queryBlock).store_in(MemoryType::GPUShared);
      queriesOf(f).gpu_threads(qt);
    };
    ofGroup(top);
    ofGroup(sum);
    tile = plane(weights, weightTile);
    inTile(tileWeights, weights, tile);
    ofGroup(inverse);
  }
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

} // namespace mille
