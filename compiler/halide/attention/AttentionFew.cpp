// Attention of few queries, as in decoding: keys are in the vector's lanes, and
// a block is the queries of one key head, so that a key is read once and used
// for all of them. It takes the keys and values of a state's panels, and gives
// the parts of stretches of keys, which AttentionJoin.cpp puts together.
// Must round and sum as the forms for many queries do: a sequence has the same
// bits however it is cut.
#include "compiler/halide/Elements.h"
#include "compiler/halide/Functions.h"
#include "compiler/halide/OneRounding.h"
#include "compiler/halide/attention/AttentionPipe.h"
#include "compiler/halide/passes/Prefetch.h"
#include "compiler/halide/passes/TurnSquares.h"

using namespace Halide;

namespace mille {
namespace {

// Accumulators of a register tile that leave registers for operands.
constexpr int accumulatorsOfWide = 24, accumulatorsOfNarrow = 8;
constexpr int accumulatorsOfPanel = 28; // of a whole panel of columns

// Lines of a tile's values that its softmax prefetches, so that memory works
// meanwhile: 2 or 16 gain half as much (Cascade Lake).
constexpr int linesAside = 4;

// The most queries of a task, rows times heads together.
constexpr int mostInLanes = 16;

} // namespace

// Biases that are read by key lie in memory that ends with the last key.
int AttentionPipe::fewRowsOf(const AttentionSpec &s) {
  if (!s.panels)
    return 0;
  for (Operand byKey : {Operand::keyHeadBias, Operand::bias,
                        Operand::contentQuery, Operand::contentKey})
    if (s.has(byKey))
      return 0;
  return mostInLanes / int(s.together());
}

Pipe AttentionPipe::buildParts() {
  declareOperands();
  takeShifts();
  placeTask();
  takeFew();
  placeRows("", rowLast - row0 + 1, Internal::const_true());
  takeStretches();
  boundOut();
  describe();
  Expr lane = row % queryBlock, of = row / queryBlock;
  Expr mark = select(d % 2 == 0, top(lane, stretch, of, outHeads),
                     sum(lane, stretch, of, outHeads));
  pipe.out(d, row0 + row / headsTogether,
           outHeads * headsTogether + row % headsTogether, stretch) =
      Tuple(mixed(d, row % mixedTile.rows, row / mixedTile.rows, stretch,
                  outHeads),
            mark);
  schedule();
  return std::move(pipe);
}

// A block is the heads of one row, or rows of few heads; the register tile of
// scores is a block and one to four vectors of keys.
void AttentionPipe::takeFew() {
  treeKeys = keyTile;
  const bool wide = V == 16;
  const int most = wide ? accumulatorsOfWide : accumulatorsOfNarrow;
  queryBlock = headsTogether < 3
                   ? 4 / headsTogether * headsTogether
                   : std::min(headsTogether, wide ? mostInLanes : most / 2);
  int vectors = 1;
  while (vectors < 4 && 2 * vectors * queryBlock <= most)
    vectors *= 2;
  keyTile = std::max(vectors * V, MILLE_PANEL_ROWS);
  const int columns = int(s.valueDim + V - 1) / V;
  vectors = 4;
  while (vectors > 1 && (vectors * queryBlock > most || columns % vectors))
    --vectors;
  mixedTile = {queryBlock, vectors};
  // Else a row of a panel would be read in more than two passes. Two of all
  // queries, half a row each, are better than two of half the queries, of which
  // the second finds the row in L2 while memory rests (Cascade Lake, 8 queries
  // of bf16: 0.92 of the time).
  if (wide && s.valueDim % MILLE_PANEL_COLUMNS == 0 && vectors < wholePanel) {
    Tile whole{queryBlock, wholePanel};
    while (whole.rows * wholePanel > accumulatorsOfPanel ||
           queryBlock % whole.rows)
      --whole.rows;
    if (paired || inBytes || vectors == 1 || whole.rows == queryBlock)
      mixedTile = whole;
  }
}

// [lane, d, block, head]; pairs of d as words.
void AttentionPipe::spreadQueries() {
  auto element = [&](const Expr &column) {
    return query(int(s.queryOffset) + headOf(q) * int(s.headDim) + column,
                 queryRow(b, q));
  };
  if (!paired) {
    queriesAcross = make("queries_across");
    queriesAcross(q, d, b, h) = widened(element(d)) * factorOf(q);
    return;
  }
  queryWords = wordsNamed("query_words", "query_pairs");
  queryWords.words(q, d, b, h) =
      wordOfHalves(halfOf(element(2 * d)), halfOf(element(2 * d + 1)));
  readAsParts(queryWords, BFloat(16), half, {q, d, b, h});
}

// Panels of a tile that begin after the last key that a query of the block sees
// are not read.
void AttentionPipe::leaveOutPanels(RDom &products) const {
  Expr last = lastOf(seenByBlock(b)), panel = ki / V * V;
  if (keyTile > V && last.defined())
    products.where(keyAt(e) + ko * keyTile + panel <= last);
}

// Keys that lie as values do, by squares of a vector of keys and of columns:
// [key of tile, column, ...]. A vector of keys would else be gathered, a number
// at a time.
Expr AttentionPipe::turnedKeyAt(const Expr &column) {
  keySquare = make("key_square");
  keySquare(d, ki, ko, e, b, h) =
      widened(keyElement(d, placeOf(ko), kvHeadInSequence()));
  turnedKeys = make("turned_keys");
  turnedKeys(ki, d, ko, e, b, h) = keySquare(d, ki, ko, e, b, h);
  return turnedKeys(ki, column, ko, e, b, h);
}

// A maximum does not depend on its order.
void AttentionPipe::findTopOfLanes() {
  const Combine maximum = [](const Expr &x, const Expr &y) {
    return max(x, y);
  };
  topLanes = make("top_lanes");
  topLanes(u, q, e, b, h) = lowest;
  RDom both(0, keyTile / V, 0, tilesTogether(),
            names(("top_key" + suffix).c_str()));
  restrictTiles(both, both.y, seenByBlock(b));
  topLanes(u, q, e, b, h) =
      max(topLanes(u, q, e, b, h), scores(q, both.x * V + u, both.y, e, b, h));
  topVector = both.x;
  topTile = both.y;
  stretchTop = make("stretch_top");
  stretchTop(q, e, b, h) = combined(
      V, [&](const Expr &i) { return topLanes(i, q, e, b, h); }, maximum);
  carryTop();
}

// The weights, and their sum.
void AttentionPipe::weighLanes() {
  findTopOfLanes();
  RDom r = tilesOf("weight_tile", b);
  weightTile = r;
  if (paired)
    return weighPairsOfLanes();
  weights = make("weights");
  weights(q, ki, ko, e, b, h) = undef<float>();
  weights(q, ki, r, e, b, h) = weightOf(scores(q, ki, r, e, b, h));
  declareSumLanes(keyTile / V);
  sumLanes(u, q, e, b, h) = 0.0f;
  sumLanes(u, q, e, b, h) = added(
      sumLanes(u, q, e, b, h), weights(q, sumVector * V + u, sumTile, e, b, h));
  joinLanes([&](const Expr &i) { return sumLanes(i, q, e, b, h); });
}

// The sum of weights: trees of as many keys as a tile of the other forms has,
// one after another.
void AttentionPipe::weighPairsOfLanes() {
  RDom trees = tilesOf("tree_tile", b);
  treeOfTile = trees;
  treeSums = make("tree_sums");
  treeSums(u, q, ko, e, b, h) = undef<float>();
  findStart();
  weightWords = wordsNamed("weight_words", "weight_pairs");
  Func &words = weightWords.words;
  words(q, kp, ko, e, b, h) = undef<uint32_t>();
  words(q, kp, weightTile, e, b, h) =
      weightsOfPair(scores(q, 2 * kp, weightTile, e, b, h),
                    scores(q, 2 * kp + 1, weightTile, e, b, h));
  readAsParts(weightWords, BFloat(16), half, {q, kp, ko, e, b, h});
  sumTrees(treeKeys / 2,
           [&](const Expr &i) { return sumOfWord(words(q, i, ko, e, b, h)); });
  treeSums(u, q, trees, e, b, h) = treeLevels.back()(0, u, q, trees, e, b, h);
  sum = make("sum");
  sum(q, e, b, h) = sumBefore();
  RDom all(0, keyTile / treeKeys, 0, tilesTogether(),
           names(("sum_tree" + suffix).c_str()));
  restrictTiles(all, all.y, seenByBlock(b));
  sum(q, e, b, h) = added(sum(q, e, b, h), treeSums(all.x, q, all.y, e, b, h));
  sumTiles = {all.x, all.y};
  invert();
}

// The sums of trees of `leaves` neighbours of a tile, as `combined` makes them,
// [leaf, tree, lane, key tile, stretch, block, head]: level by level, so that
// what a level adds are vectors.
void AttentionPipe::sumTrees(int leaves, const std::function<Expr(Expr)> &at) {
  for (int left = leaves; left > 1; left /= 2) {
    Func level = make(("tree_level_" + std::to_string(left)).c_str());
    Expr other = left - 1 - ki;
    if (treeLevels.empty())
      level(ki, u, q, ko, e, b, h) =
          added(at(u * left + ki), at(u * left + other));
    else
      level(ki, u, q, ko, e, b, h) =
          added(treeLevels.back()(ki, u, q, ko, e, b, h),
                treeLevels.back()(other, u, q, ko, e, b, h));
    treeLevels.push_back(level);
  }
}

//===-- Schedule ------------------------------------------------------------//

void AttentionPipe::scheduleLanes() {
  if (factors.defined())
    oncePerBlock(factors);
  scheduleQueriesOfLanes();
  scheduleScoresOfLanes();
  scheduleWeightsOfLanes();
  if (inBytes) {
    scheduleMixedBytes();
  } else if (paired) {
    scheduleMixedPairs();
    pipe.passes.push_back(shareWords({queryWords, weightWords}));
  } else {
    scheduleMixed();
  }
  prefetchStreams();
}

// Products wait for memory, though what they read is a stream: a Cascade Lake
// takes 0.76 to 0.95 of the time with these, a Zen 5 0.56 to 0.89. A Zen 4 took
// 1.02 to 1.22, and has none.
void AttentionPipe::prefetchStreams() {
  if (!prefetchesStreams)
    return;
  const int bytes = int(bytesOf(s.value.element)),
            columns = int(mille_panel_columns(columnsOfValue(s))),
            together = inBytes ? MILLE_VALUE_GROUP : keysOfWord(),
            step = columns * bytes * together;
  const std::string reader = inBytes ? partial.name() : mixed.name();
  pipe.passes.push_back(prefetchRows(
      {value.name(), reader, bytes, std::max(bytesAhead / step, 1)}));
  // More than four query heads compute longer on bytes than memory needs.
  if (!(inBytes && queryBlock > 4))
    pipe.passes.push_back(prefetchAside(
        {value.name(), reader, mixedTiles[0].name(),
         paired ? weightWords.words.name() : weights.name(), weightTile.name(),
         stretch.name(), bytes, keyTile / std::min(keyTile, MILLE_PANEL_ROWS),
         linesAside}));
  if (!turnsKeys()) // whose squares are prefetched
    pipe.passes.push_back(
        prefetchRows({key.name(), dots.name(), int(bytesOf(s.key.element)),
                      bytesAhead / lineBytes}));
}

void AttentionPipe::scheduleQueriesOfLanes() {
  if (!paired) {
    queriesAcross.compute_at(pipe.out, block)
        .bound_extent(q, queryBlock)
        .bound_extent(d, int(s.headDim))
        .reorder_storage(d, q, b, h)
        .reorder(d, q)
        .vectorize(d, lanesFor(s.headDim, V))
        .store_in(MemoryType::Stack);
    if (inBytes)
      scheduleQueryBytes();
    return;
  }
  scheduleWordsOfLanes(2);
}

// Query heads' words of `each` elements, whose columns are in lanes.
void AttentionPipe::scheduleWordsOfLanes(int each) {
  const int words = int(s.headDim) / each;
  queryWords.words.compute_at(pipe.out, block)
      .bound_extent(q, queryBlock)
      .bound_extent(d, words)
      .reorder_storage(d, q, b, h)
      .reorder(d, q)
      .vectorize(d, lanesFor(words, V))
      .store_in(MemoryType::Stack);
  queryWords.parts.compute_at(pipe.out, block)
      .bound_extent(half, each)
      .bound_extent(q, queryBlock)
      .bound_extent(d, words)
      .reorder_storage(half, d, q, b, h)
      .store_in(MemoryType::Stack);
}

void AttentionPipe::scheduleScoresOfLanes() {
  if (keyTerm.defined()) {
    perKeyHead(keyTerm);
    keyTerm.vectorize(u, V, TailStrategy::RoundUp);
  }
  inStretch(scores)
      .bound_extent(q, queryBlock)
      .bound_extent(ki, keyTile)
      .bound(ko, 0, tilesTogether())
      .reorder_storage(ki, ko, q, e, b, h)
      .store_in(MemoryType::Stack);
  // No copy of the body for tiles of whole keys: it would be a third of the
  // code.
  scores.update()
      .reorder(ki, q, scoreTile)
      .vectorize(ki, V)
      .unroll(ki)
      .unroll(q)
      .partition(scoreTile, Partition::Never);
  for (Func f : {dots, tileScores})
    f.compute_at(scores, scoreTile)
        .store_in(MemoryType::Register)
        .bound_extent(q, queryBlock)
        .bound_extent(ki, keyTile)
        .bound_extent(ko, 1)
        .bound_extent(e, 1)
        .reorder_storage(ki, q, ko, e, b, h)
        .reorder(ki, q)
        .vectorize(ki, V)
        .unroll(ki)
        .unroll(q);
  // Panel by panel, though their sums are one register tile: keys of several
  // panels at a time are several streams, which memory gives at two thirds of
  // the speed (Zen 4, bf16, 3 heads of 64 columns: 1024 keys 26 us, not 44).
  Var lane(names("lane"));
  Stage products = dots.update().split(ki, ki, lane, V);
  if (!paired && !inBytes) {
    if (turnsKeys() || widensWords())
      products.reorder(lane, q, depthPart, depth, ki);
    else
      products.reorder(lane, q, depth, ki);
    products.vectorize(lane).unroll(ki).unroll(q);
    if (turnsKeys())
      scheduleTurnedKeys();
    else if (widensWords())
      products.unroll(depthPart);
    return;
  }
  products.reorder(depthHalf, lane, q, depth, ki)
      .atomic()
      .vectorize(depthHalf)
      .vectorize(lane)
      .unroll(ki)
      .unroll(q);
  if (!prefetchesStreams)
    products.unroll(depth, 4);
}

void AttentionPipe::scheduleTurnedKeys() {
  for (Func f : {keySquare, turnedKeys})
    f.bound_extent(ko, 1).bound_extent(e, 1);
  placeSquares(keySquare, {dots, depth}, d, ki, V);
  turnedKeys.compute_at(dots, depth)
      .bound_extent(d, V)
      .bound_extent(ki, V)
      .store_in(MemoryType::Stack)
      .vectorize(ki);
  pipe.passes.push_back(
      turnSquares({keySquare.name(), turnedKeys.name(), d.name(), V}));
  // Rows of a panel of columns are few, and then comes another panel: the
  // hardware foresees nothing.
  pipe.passes.push_back(
      prefetchFar({key.name(), keySquare.name(), int(bytesOf(s.key.element)),
                   MILLE_PANEL_ROWS * int(mille_panel_columns(s.headDim))}));
}

void AttentionPipe::scheduleByLane(Func f, const RVar &vector,
                                   const RVar &tile) {
  inStretch(f)
      .bound_extent(u, V)
      .bound_extent(q, queryBlock)
      .vectorize(u, V)
      .unroll(q)
      .store_in(MemoryType::Stack);
  f.update()
      .reorder(u, q, vector, tile)
      .vectorize(u, V)
      .unroll(q)
      .unroll(vector);
}

void AttentionPipe::scheduleWeightsOfLanes() {
  scheduleByLane(topLanes, topVector, topTile);
  lanes(stretchTop);
  Func weightsOf = paired ? weightWords.words : weights;
  const Var &key = paired ? kp : ki;
  const int extent = paired ? keyTile / 2 : keyTile;
  if (paired)
    lanes(start);
  inStretch(weightsOf)
      .bound_extent(q, queryBlock)
      .bound_extent(key, extent)
      .bound(ko, 0, tilesTogether())
      .reorder_storage(key, ko, q, e, b, h)
      .store_in(MemoryType::Stack);
  weightsOf.update()
      .reorder(key, q, weightTile)
      .vectorize(key, std::min(extent, V))
      .unroll(key)
      .unroll(q);
  if (paired)
    inStretch(weightWords.parts)
        .bound_extent(half, 2)
        .bound_extent(q, queryBlock)
        .bound_extent(kp, extent)
        .bound(ko, 0, tilesTogether())
        .reorder_storage(half, kp, ko, q, e, b, h)
        .store_in(MemoryType::Stack);
  lanes(sum);
  if (paired)
    scheduleTrees();
  else
    scheduleByLane(sumLanes, sumVector, sumTile);
}

void AttentionPipe::scheduleTrees() {
  const int trees = keyTile / treeKeys;
  inStretch(treeSums)
      .bound_extent(u, trees)
      .bound_extent(q, queryBlock)
      .bound(ko, 0, tilesTogether())
      .reorder_storage(u, ko, q, e, b, h)
      .store_in(MemoryType::Stack);
  treeSums.update()
      .reorder(u, q, treeOfTile)
      .vectorize(u, trees)
      .unroll(q)
      .partition(treeOfTile, Partition::Never);
  int left = treeKeys / 2 / 2;
  for (Func f : treeLevels) {
    f.compute_at(treeSums, treeOfTile)
        .store_in(MemoryType::Register)
        .bound_extent(ki, left)
        .bound_extent(u, trees)
        .bound_extent(q, queryBlock)
        .bound_extent(ko, 1)
        .bound_extent(e, 1)
        .vectorize(ki, left)
        .vectorize(u, trees)
        .unroll(q);
    left /= 2;
  }
  sum.update().reorder(q, sumTiles[0], sumTiles[1]).unroll(q);
}

} // namespace mille
