// Attention of bf16 in tile registers (AMX), as far as it differs from products
// of pairs (AttentionPairs.cpp): the rows of a tile are keys for the scores and
// columns of values for the mixed values, so that queries stay in lanes. Mixed
// values are transposed on their way to the out.
// Must not name instructions: TileSums.h puts them in.
#include "compiler/halide/attention/AttentionPipe.h"
#include "compiler/halide/passes/TileSums.h"

using namespace Halide;

namespace mille {
namespace {

constexpr int registerRows = 16, registerBytes = 64;

} // namespace

bool AttentionPipe::takesTiles(const AttentionSpec &s, const Machine &machine) {
  return machine.tileRegisters && isOfPairs(s) && !s.panels;
}

// [word of pairs, column, key tile, head], transposed four words at a time.
void AttentionPipe::turnValues() {
  RDom rv(0, int(s.valueDim), names("value_column"));
  valueColumn = rv;
  valueQuads = make("value_quads");
  auto elementAt = [&](const Expr &kv) {
    Expr x = value(int(s.valueOffset) + h * int(s.valueDim) + rv,
                   keyRow + min(kv, keys - 1));
    return select(kv < keys, halfOf(x), cast<uint16_t>(0));
  };
  Expr kv = ko * keyTile + (u * quad + q) * 2;
  valueQuads(q, d, u, ko, h) = undef<uint32_t>();
  valueQuads(q, rv, u, ko, h) = wordOfHalves(elementAt(kv), elementAt(kv + 1));
  valueWords.words = make("value_words");
  valueWords.words(kp, d, ko, h) = valueQuads(kp % quad, d, kp / quad, ko, h);
}

// [column, query, block, stretch, head]
void AttentionPipe::mixInTiles() {
  turnValues();
  mixed = make("mixed");
  mixed(d, q, t, e, h) = mixedBefore();
  const bool hides = s.hidesKeys();
  if (hides)
    lookForNan();
  for (bool careful : {false, true}) {
    if (careful && !hides)
      continue;
    Range seen = seenByBlock(t);
    seen.last = endBySound(seen.last, careful);
    RDom r(0, 2, 0, keyTile / 2, 0, tilesTogether(),
           names(careful ? "r3" : "r2"));
    restrictTiles(r, r.z, seen);
    Expr weight = elementOf(weightWords.words(q, r.y, r.z, e, t, h), r.x);
    Expr tile = keyAt(e) / keyTile + r.z;
    Expr x = elementOf(valueWords.words(r.y, d, tile, kvHead), r.x);
    if (careful)
      x = whereWeighed(weight, x);
    mixed(d, q, t, e, h) += productOf(weight, x);
    mixedHalves.push_back(r.x);
    mixedKeys.push_back(r.y);
    mixedTiles.push_back(r.z);
  }
}

// Transposes mixed values, four columns at a time.
Expr AttentionPipe::turned(const std::function<Expr(Expr, Expr, Expr)> &valueOf,
                           const Expr &local) {
  mixedQuads = make("mixed_quads");
  mixedQuads(ki, q, u, b, h) = valueOf(u * quad + ki, q, b);
  return mixedQuads(d % quad, local % queryBlock, d / quad, local / queryBlock,
                    outHeads);
}

//===-- Schedule
//----------------------------------------------------------------//

// The columns of a value, rounded up to whole registers.
int AttentionPipe::columnsInTiles() const {
  return (int(s.valueDim) + registerRows - 1) / registerRows * registerRows;
}

void AttentionPipe::scheduleRowsInTiles() {
  Var di(names("di"));
  RVar qi(names("qi"));
  Stage run = pipe.out.update(pipe.out.num_update_definitions() - 1);
  run.split(row, block, qi, queryBlock, TailStrategy::GuardWithIf)
      .split(d, d, di, quad,
             s.valueDim % quad ? TailStrategy::GuardWithIf : TailStrategy::Auto)
      .reorder(di, d, qi, block, headsOfKey, keyHead)
      .vectorize(di)
      .unroll(d);
  run.partition(block, Partition::Never); // as without tile registers
  if (laneRows.defined())
    oncePerBlock(laneRows);
  mixedQuads.compute_at(pipe.out, block)
      .bound_extent(ki, quad)
      .bound_extent(q, queryBlock)
      .reorder(ki, q, u)
      .vectorize(q, V)
      .unroll(ki)
      .store_in(MemoryType::Stack);
}

// The loops of dots and mixed are placeholders: a pass replaces them by AMX
// instructions.
void AttentionPipe::scheduleDotsInTiles() {
  dots.compute_at(scores, scoreTile)
      .store_in(MemoryType::Stack)
      .bound_extent(q, queryBlock)
      .bound_extent(ki, keyTile)
      .bound_extent(ko, 1)
      .bound_extent(e, 1);
  const bool turns = s.has(Operand::rotation);
  const int group = queryBlock * 4;
  const int rowBytes = int(turns ? s.headDim : s.key.rowStride) * 2;
  pipe.passes.push_back(sumInTileRegisters(
      {turns ? roundedKey.name() : key.name(), queryWords.words.name(),
       dots.name(), ki.name(), keyTile, queryBlock / V, registerBytes, rowBytes,
       registerBytes, group, registerRows * group, int(s.headDim) * 2, "",
       /*ofBytes=*/false, /*adds=*/false}));
}

void AttentionPipe::scheduleMixedInTiles() {
  const int columns = columnsInTiles(), words = keyTile / 2,
            group = queryBlock * 4;
  perKeyHead(valueWords.words);
  valueWords.words.bound_extent(kp, words)
      .bound(d, 0, columns)
      .bound(ko, 0, tileCount())
      .reorder(kp, d, ko)
      .vectorize(kp, quad)
      .unroll(kp);
  valueQuads.compute_at(valueWords.words, ko)
      .bound_extent(q, quad)
      .bound_extent(d, columns)
      .bound_extent(u, words / quad)
      .store_in(MemoryType::Stack);
  valueQuads.update()
      .reorder(q, valueColumn, u)
      .vectorize(valueColumn, V, tail())
      .unroll(q);
  mixed.reorder_storage(q, d, t, e, h)
      .compute_at(stretched ? kept : pipe.out, stretched ? stretch : block)
      .bound(d, 0, columns)
      .bound_extent(q, queryBlock)
      .bound_extent(t, 1)
      .bound_extent(e, 1)
      .reorder(q, d)
      .vectorize(q, V)
      .store_in(MemoryType::Stack);
  for (size_t i = 0; i < mixedKeys.size(); ++i) {
    mixed.update(int(i)).reorder(q, d, mixedHalves[i], mixedKeys[i],
                                 mixedTiles[i]);
    if (i > 0)
      mixed.update(int(i)).vectorize(q, V);
  }
  pipe.passes.push_back(sumInTileRegisters(
      {valueWords.words.name(), weightWords.words.name(), mixed.name(),
       d.name(), columns, queryBlock / V, registerBytes, registerBytes,
       columns * registerBytes, group, (words + 1) * group, 0,
       mixedTiles[0].name(), /*ofBytes=*/false, /*adds=*/true}));
  scheduleWorst();
}

} // namespace mille
