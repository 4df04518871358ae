// Attention's schedule on a CPU: where each function is computed, and the
// memory that this takes. Must not change what is computed.
#include "compiler/halide/Emit.h"
#include "compiler/halide/attention/AttentionPipe.h"
#include "compiler/halide/matmul/Tiles.h"
#include "compiler/halide/passes/Prefetch.h"

using namespace Halide;

namespace mille {

// The tile has 12 to 28 accumulators of 32 vector registers, or 8 to 12 of 16:
// they hide the latency of a multiply-add, with one load for every second one.
// Where a value has an odd number of vectors, the tile has three of them, or
// all five or seven: on Zen 4 pairs then take 0.85 to 0.9 of the time, for
// heads of 48, 80 and 112, of tiles with one vector and twice the rows.
// Integers would take up to 5 % longer, so they keep one vector.
//
// A state's panel of columns is a tile where there are several: Halide then
// knows which panel a tile's columns are in, and loads them as vectors.
AttentionPipe::Tile AttentionPipe::mixedTileOf(const AttentionSpec &s,
                                               const Machine &machine) {
  if (machine.device)
    return {4, 1};
  if (takesTiles(s, machine))
    return {mostQueries, 1};
  const int vectors = int(s.valueDim + machine.lanes - 1) / machine.lanes;
  const int rows = machine.wide ? 8 : 4;
  if (machine.lanes * wholePanel == MILLE_PANEL_COLUMNS && hasPanels(s) &&
      s.valueDim % MILLE_PANEL_COLUMNS == 0) // values may be a part of keys
    return {rows / 2, wholePanel};
  const bool pairs = takesPairs(s, machine),
             integers = takesIntegers(s, machine);
  if (vectors == 1 || (vectors % 2 && integers))
    return {2 * rows, 1};
  if (integers || (vectors % 2 == 0 && pairs))
    return {rows, 2};
  if (vectors % 3 == 0)
    return {rows, 3};
  if (machine.wide && (vectors == 5 || vectors == 7))
    return {4, vectors};
  return pairs ? Tile{2 * rows, 1} : Tile{rows, 2};
}

// Whole vectors, with a predicate at the last: LLVM would join narrower vectors
// in pairs, and then round twice where it should round once.
TailStrategy AttentionPipe::tail() const {
  return s.valueDim % V ? TailStrategy::GuardWithIf : TailStrategy::Auto;
}

void AttentionPipe::boundOut() {
  const int width = int(s.valueDim),
            unit = s.kvHeads > 1 ? int(s.group()) : headsTogether;
  auto buffer = outBuffer();
  buffer.dim(0).set_bounds(0, width);
  if (!few) {
    buffer.dim(1).set_stride(int(spec.out.rowStride));
    buffer.dim(2).set_stride(width);
  }
  pipe.out.bound(d, 0, width);
  if (unit > 1)
    buffer.dim(2).set_min((buffer.dim(2).min() / unit) * unit);
}

// Loops over key heads, their query heads, query blocks; inside, the score rows
// of a stretch.
void AttentionPipe::scheduleRows() {
  Var di(names("di")), dv(names("dv"));
  RVar qi(names("qi"));
  queryTile = RVar(names("qm"));
  Stage run = pipe.out.update(pipe.out.num_update_definitions() - 1);
  run.split(row, block, qi, mixedTile.rows, TailStrategy::GuardWithIf)
      .split(block, block, queryTile, tiles(), TailStrategy::GuardWithIf)
      .split(d, d, di, V * mixedTile.vectors, tail())
      .split(di, di, dv, V)
      .vectorize(dv)
      .unroll(di)
      .unroll(qi);
  // All tiles of few queries read a panel of a stretch's values while it is
  // near; the values of all panels may be more than L2 holds.
  if (few)
    run.reorder(dv, di, qi, queryTile, d, stretch, block, headsOfKey, keyHead)
        .partition(stretch, Partition::Never);
  else
    run.reorder(dv, di, qi, d, queryTile, block, headsOfKey, keyHead);
  // A copy of the loops' bodies for whole blocks and tiles would be a third of
  // the code, and gains nothing: 0.96 to 1 of the time (cascadelake, 12 heads
  // of 32 to 128, 1 to 512 tokens) without it.
  run.partition(block, Partition::Never).partition(queryTile, Partition::Never);
  if (laneRows.defined())
    oncePerBlock(laneRows);
}

// Computes f once for each query block and stretch of keys.
Func AttentionPipe::inStretch(Func f) const {
  if (!stretched)
    return f.compute_at(pipe.out, block);
  return f.compute_at(home(), stretch).bound_extent(e, 1);
}

void AttentionPipe::scheduleQueries() {
  if (s.has(Operand::rotation)) {
    turnedQuery.rows.compute_at(pipe.out, block);
    turnedQuery.vectorize(V);
    perKeyHead(turnedKey.rows);
    turnedKey.vectorize(V);
  }
  if (factors.defined())
    oncePerBlock(factors);
  quads.compute_at(pipe.out, block)
      .bound_extent(q, quad)
      .bound_extent(u, queryBlock / quad)
      .reorder(q, d, u)
      .vectorize(d, lanesFor(s.headDim, V))
      .unroll(q)
      .store_in(MemoryType::Stack);
  queriesAcross.compute_at(pipe.out, block)
      .bound_extent(q, queryBlock)
      .align_storage(q, V)
      .reorder(q, d)
      .vectorize(q, quad)
      .unroll(q)
      .store_in(MemoryType::Stack);
}

// Schedules a number per query of a block, for all keys.
void AttentionPipe::oncePerBlock(Func f) {
  f.compute_at(pipe.out, block)
      .bound_extent(q, queryBlock)
      .store_in(MemoryType::Stack);
  if (!few)
    f.vectorize(q, V);
  f.unroll(q);
}
// Computes f once for each key head of a task.
void AttentionPipe::perKeyHead(Func f) {
  if (s.kvHeads == 1)
    f.compute_root();
  else
    f.compute_at(pipe.out, keyHead);
}
void AttentionPipe::scheduleWidened(Func f, int64_t columns) {
  if (!f.defined())
    return;
  perKeyHead(f);
  f.bound_extent(d, int(columns)).vectorize(d, lanesFor(columns, V));
}
// Schedules a number per query of a block and stretch.
void AttentionPipe::lanes(Func f) {
  inStretch(f).bound_extent(q, queryBlock).store_in(MemoryType::Stack);
  if (!few)
    f.vectorize(q, V);
  f.unroll(q);
}
// Schedules a number per query of a block and key of a stretch, by tiles.
void AttentionPipe::plane(Func f, const Var &row, int rows, const RVar &tile) {
  inStretch(f).bound_extent(q, queryBlock).bound_extent(row, rows);
  f.update().reorder(q, row, tile).vectorize(q, V).unroll(q).unroll(row);
}
// Schedules one tile of `plane` in registers.
void AttentionPipe::inTile(Func f, Func plane, const Var &row, int rows,
                           const RVar &tile) {
  f.compute_at(plane, tile)
      .store_in(MemoryType::Register)
      .bound_extent(q, queryBlock)
      .bound_extent(row, rows)
      .bound_extent(ko, 1)
      .bound_extent(e, 1)
      .reorder(q, row)
      .vectorize(q, V)
      .unroll(q)
      .unroll(row);
}

void AttentionPipe::scheduleScores() {
  scheduleWidened(widenedKey, s.headDim);
  plane(scores, ki, keyTile + 1, scoreTile);
  for (Func f : {dots, tileScores})
    inTile(f, scores, ki, keyTile, scoreTile);
  if (inBytes)
    scheduleDotsOfWords();
  else
    dots.update().reorder(q, ki, depth).vectorize(q, V).unroll(q).unroll(ki);
  if (strip.defined())
    inStretch(strip).vectorize(u, V);
  if (isLinear())
    return;
  Func most = stretched ? stretchTop : top;
  for (Func f : {most, sum})
    lanes(f);
  most.update().reorder(q, topTile).vectorize(q, V).unroll(q);
  if (isApart())
    inStretch(sumLanes)
        .bound_extent(q, queryBlock)
        .bound_extent(u, V)
        .vectorize(q, V)
        .store_in(MemoryType::Stack)
        .update()
        .reorder(q, sumVector, sumTile)
        .vectorize(q, V)
        .unroll(q)
        .unroll(sumVector);
  else
    sum.update().reorder(q, sumTile).vectorize(q, V).unroll(q);
  plane(weights, ki, isApart() ? keyTile : keyTile + 1, weightTile);
  inTile(tileWeights, weights, ki, keyTile, weightTile);
  lanes(inverse);
}

void AttentionPipe::scheduleMixed() {
  scheduleWidened(widenedValue, s.valueDim);
  mixed.compute_at(mixedTileLoop())
      .bound_extent(e, 1)
      .store_in(MemoryType::Register)
      .bound_extent(q, mixedTile.rows)
      .bound_extent(t, 1)
      .vectorize(d, V, tail())
      .unroll(d)
      .unroll(q);
  for (size_t i = 0; i < mixedKeys.size(); ++i) {
    Stage update = mixed.update(int(i));
    if (i == 0 && keysOfWord() > 1)
      update.reorder(d, q, mixedWord, mixedKeys[i], mixedTiles[i])
          .unroll(mixedWord);
    else
      update.reorder(d, q, mixedKeys[i], mixedTiles[i]);
    update.vectorize(d, V, tail()).unroll(d).unroll(q);
  }
  const int bytes = int(bytesOf(s.value.element));
  if (!s.panels) // which lie in the order that they are read
    pipe.passes.push_back(
        prefetchRows({value.name(), mixed.name(), bytes, keyTile}));
  scheduleWorst();
}

void AttentionPipe::scheduleWorst() {
  if (!worst.defined())
    return;
  for (Func f : {worst, worstOfAll, soundKeys}) {
    if (few)
      f.compute_at(pipe.out, stretch);
    else
      perKeyHead(f);
    f.bound_extent(e, 1).store_in(MemoryType::Stack);
  }
  worst.bound_extent(d, int(s.valueDim)).vectorize(d, V, tail());
  worst.update().vectorize(d, V, tail()).reorder(d, worstKeys);
  worstOfAll.update().atomic().vectorize(worstColumns, lanesFor(s.valueDim, V));
}

//===-- Pairs
//-------------------------------------------------------------------//

void AttentionPipe::scheduleQueryPairs() {
  if (s.has(Operand::rotation)) {
    turnedQuery.rows.compute_at(pipe.out, block);
    turnedQuery.vectorize(V);
    perKeyHead(roundedKey);
    roundedKey.bound_extent(d, int(s.headDim))
        .vectorize(d, lanesFor(s.headDim, V));
    turnedKey.rows.compute_at(roundedKey, u).store_in(MemoryType::Stack);
    turnedKey.vectorize(V);
  }
  if (factors.defined())
    oncePerBlock(factors);
  const int pairs = int(s.headDim / 2);
  quads.compute_at(pipe.out, block)
      .bound_extent(q, quad)
      .bound_extent(t, queryBlock / quad)
      .bound_extent(d, pairs)
      .reorder(q, d, t)
      .vectorize(d, lanesFor(pairs, V))
      .unroll(q)
      .store_in(MemoryType::Stack);
  scheduleQueryWords(quad);
}

void AttentionPipe::scheduleQueryWords(int lanesTogether) {
  const int words = int(s.headDim) / wordElements();
  queryWords.words.compute_at(pipe.out, block)
      .bound_extent(q, queryBlock)
      .bound_extent(d, words)
      .reorder(q, d)
      .vectorize(q, lanesTogether)
      .unroll(q)
      .store_in(MemoryType::Stack);
  queryWords.parts.compute_at(pipe.out, block)
      .bound_extent(half, wordElements())
      .bound_extent(q, queryBlock)
      .bound_extent(d, words)
      .store_in(MemoryType::Stack);
}

// Products of words, whose parts are added within a lane.
void AttentionPipe::scheduleDotsOfWords() {
  Var qv(names("qv"));
  dots.update()
      .split(q, q, qv, V)
      .reorder(depthHalf, qv, q, ki, depth)
      .atomic()
      .vectorize(depthHalf)
      .vectorize(qv)
      .unroll(q)
      .unroll(ki);
}

void AttentionPipe::scheduleScorePairs() {
  if (keyTerm.defined()) {
    perKeyHead(keyTerm);
    keyTerm.vectorize(u, V, TailStrategy::RoundUp);
  }
  plane(scores, ki, keyTile + 1, scoreTile);
  inTile(tileScores, scores, ki, keyTile, scoreTile);
  if (inTiles) {
    scheduleDotsInTiles();
  } else {
    inTile(dots, scores, ki, keyTile, scoreTile);
    scheduleDotsOfWords();
  }
  if (strip.defined())
    inStretch(strip).vectorize(u, V);
  for (auto &[f, across] :
       {std::pair<Func, RVar>{stretched ? stretchTop : top, topTile},
        {sum, sumTile}}) {
    lanes(f);
    Func(f).update().reorder(q, across).vectorize(q, V).unroll(q);
  }
  if (start.defined())
    lanes(start);
  const int pairs = keyTile / 2;
  plane(weightWords.words, kp, pairs + 1, weightTile);
  if (integral)
    inTile(tileWeights, weightWords.words, ki, keyTile, weightTile);
  else
    inTile(tileWeights, weightWords.words, kp, pairs, weightTile);
  // All words are allocated, since they are read as pairs.
  Expr most = tilesTogether();
  weightWords.words.bound(ko, 0, most);
  if (!inTiles)
    inStretch(weightWords.parts)
        .bound_extent(half, 2)
        .bound(ko, 0, most)
        .bound_extent(q, queryBlock)
        .bound_extent(kp, pairs + 1);
  lanes(inverse);
}

// The columns of a value, rounded up to whole register tiles.
int AttentionPipe::paddedValue() const {
  const int width = V * mixedTile.vectors;
  return (int(s.valueDim) + width - 1) / width * width;
}

void AttentionPipe::scheduleValuePairs() {
  for (Func f : {valueWords.words, valueWords.parts}) {
    perKeyHead(f);
    f.bound(d, 0, paddedValue()).bound(u, 0, (keys + 1) / 2);
  }
  valueWords.parts.bound_extent(half, 2);
  valueWords.words.update()
      .reorder(valueColumn, u)
      .vectorize(valueColumn, V, tail());
}

// The innermost loop of the out that a register tile of mixed values is in.
LoopLevel AttentionPipe::mixedTileLoop() const {
  return few ? LoopLevel(pipe.out, queryTile) : LoopLevel(home(), d);
}

void AttentionPipe::holdTile(Func sums, int together) {
  const bool one = together == 1;
  sums.compute_at(one ? mixedTileLoop() : LoopLevel(pipe.out, d))
      .bound_extent(e, 1)
      .store_in(one ? MemoryType::Register : MemoryType::Stack)
      .bound_extent(q, mixedTile.rows)
      .bound_extent(t, together)
      .bound_extent(d, V * mixedTile.vectors)
      .vectorize(d, V)
      .unroll(d)
      .unroll(q);
}

void AttentionPipe::addPairs(Stage update, size_t number) {
  Var dv(names("dv"));
  const RVar half = mixedHalves[number], key = mixedKeys[number];
  update.split(d, d, dv, V);
  if (s.panels)
    update.reorder(half, dv, d, q, key, mixedTiles[number]);
  else
    update.reorder(half, dv, d, q, key);
  update.atomic().vectorize(half).vectorize(dv).unroll(d).unroll(q);
}

void AttentionPipe::scheduleMixedPairs() {
  if (!s.panels)
    scheduleValuePairs();
  holdTile(mixed);
  for (size_t i = 0; i < mixedKeys.size(); ++i)
    addPairs(mixed.update(int(i)), i);
  scheduleWorst();
}

//===-- Integers
//----------------------------------------------------------------//

void AttentionPipe::scheduleMixedIntegers() {
  scheduleLargest(valueMost, value);
  perKeyHead(valueInverse);
  valueInverse.vectorize(u, V, TailStrategy::RoundUp);
  const int width = V * mixedTile.vectors, padded = paddedValue();
  for (Func f : {valueWords.words, valueWords.parts}) {
    perKeyHead(f);
    f.bound(d, 0, padded).bound(u, 0, tileCount() * (keyTile / 2));
  }
  valueWords.parts.bound_extent(half, 2);
  valueWords.words.update()
      .reorder(valueColumn, u)
      .vectorize(valueColumn, V, tail());
  Var dv(names("dv"));
  mixed.compute_at(home(), d)
      .bound_extent(e, 1)
      .store_in(MemoryType::Stack)
      .bound_extent(q, mixedTile.rows)
      .bound_extent(t, 1)
      .bound_extent(d, width)
      .vectorize(d, V)
      .unroll(d)
      .unroll(q);
  mixed.update().reorder(d, q, chunk).vectorize(d, V).unroll(d).unroll(q);
  partial.compute_at(mixed, chunk)
      .bound_extent(e, 1)
      .store_in(MemoryType::Register)
      .bound_extent(q, mixedTile.rows)
      .bound_extent(t, 1)
      .bound_extent(u, 1)
      .bound_extent(d, width)
      .vectorize(d, V)
      .unroll(d)
      .unroll(q);
  partial.update()
      .split(d, d, dv, V)
      .reorder(mixedHalves[0], dv, d, q, mixedKeys[0], mixedTiles[0])
      .atomic()
      .vectorize(mixedHalves[0])
      .vectorize(dv)
      .unroll(d)
      .unroll(q);
}

uint32_t keysTogether(const KernelSpec &spec) {
  bool sums = spec.kind == KernelKind::attention && !spec.attention.decay;
  return sums ? AttentionPipe::keyUnitOf(spec.attention) : 0;
}

void scratchOf(const KernelSpec &spec, uint64_t &base, uint64_t &perKey) {
  base = perKey = 0;
  if (spec.kind == KernelKind::attentionBackward)
    return scratchOfBackward(spec, base, perKey);
  if (spec.kind == KernelKind::weightGradient &&
      isBf16(spec.weightGradient.gradient.element))
    return scratchOfPairs(spec, base);
  if (spec.kind == KernelKind::matmul)
    base = scratchOfMatmul(spec);
  if (spec.kind != KernelKind::attention)
    return;
  const AttentionSpec &s = spec.attention;
  constexpr int queryBlock = AttentionPipe::mostQueries;
  const int stretchKeys = AttentionPipe::keysOfStretch(s);
  const bool turns = s.has(AttentionOperand::rotation);
  // Per key: the rotated or widened key row; the value as pairs, or widened.
  if (turns || bytesOf(s.key.element) == 2)
    perKey += s.headDim * 4;
  if (s.key.element == Element::i8) // steps of keys and of values
    perKey += 2 * 4;
  // Keys as integers, and the steps.
  if (s.key.element == Element::bf16)
    perKey += (turns ? s.headDim * 2 : 0) + 5 * 4;
  if (bytesOf(s.value.element) == 2)
    perKey += std::max(s.valueDim * 4, (s.valueDim + 31) / 32 * 32 * 2);
  // Scores and weights of a query block and a stretch, and their summaries: a
  // ninth more, or a fifth (narrow machines have 16 queries); a strip of
  // distances.
  base = (s.decay ? 1 : 2) * queryBlock * stretchKeys * 4 * 9 / 8;
  if (s.decay || s.biasByDistance)
    base += (stretchKeys + queryBlock) * 4;
  if (s.key.element == Element::i8) // shares of values, and their integers
    base += queryBlock * stretchKeys * (4 + 2) * 9 / 8;
  // The values that a stretch hands to the next; rotated queries, all heads of
  // a row.
  base += queryBlock * (s.valueDim + 80) * 4;
  if (turns)
    base += (queryBlock + 2 * s.together()) * s.headDim * 4;
  // Queries, and what transposes them, where the stack has no room for them.
  if (queryBlock * s.headDim * 4 >= 16 << 10)
    base += 2 * queryBlock * s.headDim * 4;
  // Keys are rounded up to a key tile; Halide aligns each of the allocations.
  base += AttentionPipe::keyUnitOf(s) * perKey + 6 * 256;
}

} // namespace mille
