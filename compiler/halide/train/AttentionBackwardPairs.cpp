// Attention's backward pass of bf16 on machines that add the products of pairs:
// of columns for scores and for the softmax's gradient, of keys for that of
// queries, of queries for those of keys and values. The softmax and its
// gradient are f32, and rounded to bf16 for the last three.
// Must add pairs in their order, whatever heads a task has.
#include "compiler/halide/Elements.h"
#include "compiler/halide/passes/KeepSums.h"
#include "compiler/halide/passes/Prefetch.h"
#include "compiler/halide/passes/TurnSquares.h"
#include "compiler/halide/train/AttentionBackward.h"

using namespace Halide;

namespace mille {
namespace {

Expr halfOf(const Expr &x) { return cast<uint32_t>(reinterpret<uint16_t>(x)); }

} // namespace

// Words of two columns lie in whole vectors.
bool AttentionBackward::takesPairs(const KernelSpec &spec,
                                   const Machine &machine) {
  const AttentionSpec &s = spec.attentionBackward.forward;
  return machine.pairs && s.query.element == Element::bf16 &&
         s.headDim % (2 * machine.lanes) == 0 &&
         s.valueDim % (2 * machine.lanes) == 0;
}

// [query of the block, pair of columns, block, head]
void AttentionBackward::pairAcross(Words &words, Func &square,
                                   const ImageParam &of, int offset,
                                   int width) {
  square = make((of.name() + "_square").c_str());
  auto at = [&](int part) {
    return halfOf(of(offset + h * width + 2 * c + part, rowOf(b, i)));
  };
  square(c, i, b, h) = at(0) | (at(1) << 16);
  words = {make((of.name() + "_words").c_str()),
           make((of.name() + "_parts").c_str())};
  words.words(i, c, b, h) = square(c, i, b, h);
  readAsParts(words, BFloat(16), half, {i, c, b, h});
}

void AttentionBackward::addDotsOfPairs(Func &dots, RVar &part, RVar &depth,
                                       const Words &across, const Func &rows,
                                       int width) {
  RDom r(0, 2, 0, width / 2, names((dots.name() + "_depth").c_str()));
  part = r.x;
  depth = r.y;
  dots(i, j, b, h) = 0.0f;
  dots(i, j, b, h) += cast<float>(across.parts(r.x, i, r.y, b, h)) *
                      cast<float>(rows(2 * r.y + r.x, j, h));
}

// Keys side by side, and queries and their gradients, for each column.
void AttentionBackward::pairRows() {
  paired.keys = make("key_pairs");
  paired.keys(half, c, p, h) = steps.keyRows(c, 2 * p + half, h);
  auto ofBlock = [&](Func &pairsOf, const char *name, const ImageParam &of,
                     int offset, int width) {
    pairsOf = make(name);
    pairsOf(half, c, p, b, h) =
        of(offset + h * width + c, rowOf(b, 2 * p + half));
  };
  ofBlock(paired.queries, "query_pairs", query, int(s.queryOffset),
          int(s.headDim));
  ofBlock(paired.gradients, "gradient_pairs", gradient, 0, int(s.valueDim));
}

// The softmax and the gradient of scores, rounded.
void AttentionBackward::pairFactors() {
  pairRows();
  paired.slopesOfKey = make("slopes_of_key");
  paired.slopesOfKey(i, j, b, h) =
      rounded(steps.slopes(i, j, b, h), Element::bf16);
  paired.normalOfKey = make("normal_of_key");
  paired.normalOfKey(i, j, b, h) =
      rounded(steps.normal(i, j, b, h), Element::bf16);
  paired.slopes = {make("slope_words"), make("slope_parts")};
  paired.slopes.words(i, p, b, h) =
      halfOf(paired.slopesOfKey(i, 2 * p, b, h)) |
      (halfOf(paired.slopesOfKey(i, 2 * p + 1, b, h)) << 16);
  readAsParts(paired.slopes, BFloat(16), half, {i, p, b, h});
}

// A key past the last has a slope of 0.
void AttentionBackward::addTileOfQueryPairs(Func &tile) {
  RDom over(0, 2, 0, (keys + 1) / 2, names("query_key"));
  limit(over, 2 * over.y, b);
  tile(c, i, b, h) +=
      cast<float>(paired.slopes.parts(over.x, i, over.y, b, h)) *
      cast<float>(paired.keys(over.x, c, over.y, h));
  Var cv(names("cv"));
  tile.update()
      .split(c, c, cv, V)
      .reorder(over.x, cv, c, i, over.y)
      .atomic()
      .vectorize(over.x)
      .vectorize(cv)
      .unroll(c)
      .unroll(i);
}

AttentionBackward::Sum AttentionBackward::sumOfPairs(const Expr &rows,
                                                     const Expr &tiles,
                                                     const Expr &pairsOfTerms) {
  auto heads = pipe.out.output_buffer().dim(2);
  RDom r({{0, rows}, // as sumOver's, whose names loops are joined by
          {0, pairsOfTerms},
          {0, tiles},
          {0, blocks},
          {heads.min(), heads.extent()},
          {0, 2}},
         names("sum"));
  return {r, r[0], r[1], r[2], r[3], r[4], /*inPairs=*/true, r[5]};
}

void AttentionBackward::addKeysOfPairs(const char *name, const Func &factor,
                                       const Func &of, int width,
                                       const BufferSpec &buffer) {
  Func out = ofKeys(name, width, buffer);
  const int tile = rowsOfTile(width);
  Sum sum = sumOfPairs(tile, (keys + tile - 1) / tile, together / 2);
  Expr to = sum.tile * tile + sum.row;
  sum.all.where(to < keys);
  limit(sum.all, sum.tile * tile, sum.block); // as in addKeys
  limit(sum.all, to, sum.block);
  out(c, to, sum.head / int(s.group())) +=
      cast<float>(factor(2 * sum.term + sum.part, to, sum.block, sum.head)) *
      cast<float>(of(sum.part, c, sum.term, sum.block, sum.head));
  scheduleSums(out, sum, width);
  pipe.before.push_back(out);
}

void AttentionBackward::scheduleWords(Words &words, Func &square,
                                      const ImageParam &of, int width) {
  for (Func f : {words.words, words.parts})
    f.compute_at(pipe.out, block)
        .bound_extent(i, together)
        .bound_extent(c, width / 2)
        .store_in(MemoryType::Stack);
  words.parts.bound_extent(half, 2);
  Var io(names("io")), ii(names("ii")), co(names("co")), ci(names("ci"));
  words.words.split(c, co, ci, V)
      .split(i, io, ii, V)
      .reorder(ii, ci, io, co)
      .vectorize(ii);
  placeSquares(square, {words.words, io}, c, i, V);
  pipe.passes.push_back(
      turnSquares({square.name(), words.words.name(), ci.name(), V}));
  pipe.passes.push_back(prefetchFar({of.name(), square.name(), 2, width}));
}

void AttentionBackward::schedulePairs() {
  scheduleWords(paired.query, steps.querySquare, query, int(s.headDim));
  scheduleWords(paired.gradient, steps.gradientSquare, gradient,
                int(s.valueDim));
  paired.keys.compute_at(pipe.out, head)
      .bound_extent(half, 2)
      .unroll(half)
      .vectorize(c, V);
  for (Func f : {paired.queries, paired.gradients})
    f.compute_at(pipe.out, block)
        .bound_extent(half, 2)
        .bound_extent(p, together / 2)
        .store_in(MemoryType::Stack)
        .unroll(half)
        .vectorize(c, V);
  for (Func f : {paired.slopesOfKey, paired.normalOfKey, paired.slopes.words})
    f.compute_at(pipe.out, block)
        .bound_extent(i, together)
        .vectorize(i, V)
        .unroll(i);
  paired.slopes.parts.compute_at(pipe.out, block)
      .bound_extent(half, 2)
      .bound_extent(i, together);
  pipe.passes.push_back(
      shareWords({paired.query, paired.gradient, paired.slopes}));
}

} // namespace mille
