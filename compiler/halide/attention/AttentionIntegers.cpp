// Attention of bf16 by multiply-adds of pairs of 16-bit integers, for machines
// that have these but none of bf16; scores are in AttentionIntegerScores.cpp.
// Each row of values is quantised with its own step. The logarithm of the step
// is added to the key's scores, so that a query's weights include the steps and
// are integers with one step themselves; the divisor of the softmax is the sum
// of weights without the steps, in f32. Integers are added exactly within a
// chunk of keys, chunks in f32.
// Must let no bit depend on hidden keys: chunks are counted from the first key
// that the mask shows.
#include "compiler/halide/Elements.h"
#include "compiler/halide/Functions.h"
#include "compiler/halide/OneRounding.h"
#include "compiler/halide/attention/AttentionPipe.h"
#include "compiler/halide/attention/AttentionSteps.h"

using namespace Halide;

namespace mille {
namespace {

constexpr int chunkKeys = 128, mostValue = 1023;
constexpr float weightBits = 14; // the largest of a query's weights is 2^14
static_assert(int64_t(chunkKeys) * (1 << int(weightBits)) * mostValue <=
              INT32_MAX);
static_assert(AttentionPipe::longStretch % chunkKeys == 0);

Expr wordOf(const Expr &low, const Expr &high) {
  return (low & Expr(uint32_t(0xffff))) | (high << cast<uint32_t>(16));
}

} // namespace

bool AttentionPipe::takesIntegers(const AttentionSpec &s,
                                  const Machine &machine) {
  // Next to the weight of a sink the weights of keys could round to 0.
  return machine.integers && isOfPairs(s) && !s.panels && !s.has(Operand::sink);
}

// 1 / step for each row of values; NaN where the row holds one.
void AttentionPipe::prepareValues() {
  Expr kv = min(u, keys - 1);
  auto element = [&](const Expr &column) { return valueAt(column, kv, h, kv); };
  valueMost = largestOf("value_most", s.valueDim, element);
  Expr most = valueMost.all(u, h);
  most = max(most, reinterpret<int32_t>(Expr(leastMagnitude)));
  Expr inverse = inverseStepOf(finiteOrNan(most), mostValue);
  valueInverse = make("value_inverse");
  valueInverse(u, h) =
      s.has(Operand::keyMask) ? select(isKept(kv), inverse, 0.0f) : inverse;
}

// [half, lane, pair of tile, key tile, stretch, block, head]
void AttentionPipe::weighIntegers() {
  findTop();
  RDom r = tilesOf("weight_tile", b);
  weightTile = r;
  start = make("start");
  start(q, e, b, h) = top(q, e, b, h) - weightBits;
  tileWeights = make("tile_weights");
  tileWeights(q, ki, ko, e, b, h) =
      exp2Coarse(scores(q, ki, ko, e, b, h) - start(q, e, b, h));
  auto integerOf = [&](const Expr &i) {
    return asInteger(tileWeights(q, i, r, e, b, h));
  };
  // A hidden key's value may be NaN, so its share is selected away.
  auto shareOf = [&](const Expr &i) {
    Expr weight = tileWeights(q, i, r, e, b, h);
    Expr share = multiplied(weight, valueInverse(keyOfTile(r, i), kvHead));
    return s.hidesPairs() ? select(weight > 0.0f, share, 0.0f) : share;
  };
  const int pairs = keyTile / 2;
  weightWords = wordsNamed("weight_words", "weight_pairs");
  Func &words = weightWords.words;
  words(q, kp, ko, e, b, h) = undef<uint32_t>();
  Expr pair = min(kp, pairs - 1);
  words(q, kp, r, e, b, h) =
      select(kp < pairs, wordOf(integerOf(2 * pair), integerOf(2 * pair + 1)),
             reinterpret<uint32_t>(combined(keyTile, shareOf, added)));
  sumWords(Int(16));
}

// [column, query of tile, tile, stretch, head]
void AttentionPipe::mixIntegers() {
  RDom rv(0, int(s.valueDim), names("value_column"));
  valueColumn = rv;
  valueWords = wordsNamed("value_words", "value_pairs");
  auto elementAt = [&](const Expr &of) {
    Expr kv = min(of, keys - 1);
    return asInteger(multiplied(valueAt(rv, kv, h, kv), valueInverse(kv, h)));
  };
  valueWords.words(d, u, h) = undef<uint32_t>();
  valueWords.words(rv, u, h) = wordOf(elementAt(2 * u), elementAt(2 * u + 1));
  readAsParts(valueWords, Int(16), half, {d, u, h});

  // Products of weights and values, by tiles of keys counted in their stretch.
  Range from = seenByTile(0), to = seenByTile(mixedTile.rows - 1);
  Expr last = lastOf({from.first, to.last});
  auto restrict = [&](RDom &r, const Expr &tile, int count) {
    Expr kv = keyAt(e) + tile * keyTile;
    if (from.first.defined())
      r.where(kv + (count * keyTile - 1) >= from.first);
    r.where(kv <= (last.defined() ? min(last, keys - 1) : keys - 1));
  };
  const int pairs = keyTile / 2, tilesOfChunk = chunkKeys / keyTile;
  Expr firstTile = stretched ? Expr(0) : firstKey / keyTile;
  RDom r(0, 2, 0, pairs, 0, tilesOfChunk, names("r2"));
  Expr tile = firstTile + u * tilesOfChunk + r.z;
  restrict(r, tile, 1);
  partial = make("partial");
  partial(d, q, u, t, e, h) = 0;
  partial(d, q, u, t, e, h) +=
      cast<int32_t>(
          weightWords.parts(r.x, laneOf(q), r.y, tile, e, t / tiles(), h)) *
      cast<int32_t>(valueWords.parts(
          r.x, d, (keyAt(e) + tile * keyTile) / 2 + r.y, kvHead));
  mixedHalves = {r.x};
  mixedKeys = {r.y};
  mixedTiles = {r.z};
  RDom rc(0, (tilesTogether() + (tilesOfChunk - 1)) / tilesOfChunk,
          names("chunk"));
  restrict(rc, firstTile + rc * tilesOfChunk, tilesOfChunk);
  chunk = rc;
  mixed = make("mixed");
  mixed(d, q, t, e, h) = mixedBefore();
  mixed(d, q, t, e, h) =
      added(mixed(d, q, t, e, h), cast<float>(partial(d, q, rc, t, e, h)));
}

} // namespace mille
