// Attention of bf16 by multiply-adds of pairs of 16-bit integers, for machines that
// have these and none of bf16. Each row of queries, keys and values has a step: its
// largest magnitude over the largest integer. A value's step goes into its weight, by
// its logarithm, so that one step holds for all weights of a query; what weights are
// divided by is their sum without it, in f32.
// Integers are added exactly, for a chunk of keys, and chunks in f32. Must let no bit
// depend on keys that are not seen: chunks count from the first that the mask keeps.
#include "compiler/halide/AttentionPipe.h"
#include "compiler/halide/Elements.h"
#include "compiler/halide/Functions.h"

#include <cmath>

using namespace Halide;

namespace mille {
namespace {

constexpr int chunkKeys = 128, mostValue = 1023;
constexpr float weightBits = 14; // the largest of a query's weights is 2^14
static_assert(int64_t(chunkKeys) * (1 << int(weightBits)) * mostValue <= INT32_MAX);
static_assert(AttentionPipe::stretchKeys % chunkKeys == 0);
constexpr float leastMagnitude = 1.0e-30f; // of a row; below, it counts as 0

// The largest integer of queries and keys: a dot product fits in 32 bits.
int mostOfDot(int64_t headDim) {
  return std::min(INT16_MAX, int(std::sqrt(double(INT32_MAX) / double(headDim))));
}

Expr magnitudeOf(const Expr &x) { return reinterpret<int32_t>(x) & 0x7fffffff; }

// A score of a key with this logarithm, where something beside may be no number.
Expr hiddenWith(const Expr &log, const Expr &score) {
  return select(log > AttentionPipe::hidden, score, AttentionPipe::hidden);
}

// The lower half of its bits is x as an integer, to nearest, below 2^15.
Expr asInteger(const Expr &x) {
  return reinterpret<uint32_t>(added(x, float(3 << 22)));
}
Expr wordOf(const Expr &low, const Expr &high) {
  return (low & Expr(uint32_t(0xffff))) | (high << cast<uint32_t>(16));
}
// Of a row whose largest magnitude has these bits: integers for 1, and 1 for integers.
Expr inverseStepOf(const Expr &bits, int most) {
  Expr largest = reinterpret<float>(bits);
  return select(largest < leastMagnitude, 0.0f, float(most) / largest);
}
Expr stepOf(const Expr &bits, int most) {
  return multiplied(reinterpret<float>(bits), float(1.0 / most));
}

} // namespace

bool AttentionPipe::takesIntegers(const AttentionSpec &s, const Machine &machine) {
  // Beside a sink's weight those of keys may be few integers, or none.
  return machine.integers && isOfPairs(s) && !s.has(Operand::sink);
}

// The largest magnitude of [row, head], as bits: a NaN is larger than any. First lane by
// lane, then of the lanes.
AttentionPipe::Largest AttentionPipe::largestOf(const char *name, int64_t columns,
                                                const std::function<Expr(Expr)> &at) {
  Largest largest;
  largest.all = make(name);
  largest.byLane = make((name + std::string("_lanes")).c_str());
  const int width = lanesFor(columns, V);
  RDom parts(0, int(columns / width), names((name + std::string("_part")).c_str()));
  RDom lanes(0, width, names((name + std::string("_lane")).c_str()));
  largest.part = parts;
  largest.lane = lanes;
  largest.byLane(d, u, h) = 0;
  largest.byLane(d, u, h) =
      max(largest.byLane(d, u, h), magnitudeOf(at(parts * width + d)));
  largest.all(u, h) = 0;
  largest.all(u, h) = max(largest.all(u, h), largest.byLane(lanes, u, h));
  return largest;
}

// [half, lane, pair of d, block, head]
void AttentionPipe::transposeIntegers() {
  transposeQueries();
  const int most = mostOfDot(s.headDim);
  RDom r(0, int(s.headDim), names("query_column"));
  queryColumn = r;
  queryMost = make("query_most");
  queryMost(q, b, h) = 0;
  queryMost(q, b, h) = max(queryMost(q, b, h), magnitudeOf(queriesAcross(q, r, b, h)));
  queryStep = make("query_step");
  queryStep(q, b, h) = stepOf(queryMost(q, b, h), most);
  queryInverse = make("query_inverse");
  queryInverse(q, b, h) = inverseStepOf(queryMost(q, b, h), most);
  auto element = [&](const Expr &column) {
    return asInteger(multiplied(queriesAcross(q, column, b, h), queryInverse(q, b, h)));
  };
  queryWords = wordsNamed("query_words", "query_pairs");
  queryWords.words(q, d, b, h) = wordOf(element(2 * d), element(2 * d + 1));
  readAsPairs(queryWords, Int(16), half, {q, d, b, h});
}

// Keys of a tile that are past the last are hidden from all.
Expr AttentionPipe::keyOfTile(const Expr &tile, const Expr &i) const {
  return unsafe_promise_clamped(keyAt(e) + tile * keyTile + i, 0,
                                tileCount() * keyTile - 1);
}

// Of a key that is hidden from all nothing is left but that: its step is 0.
void AttentionPipe::prepareKeys() {
  const int most = mostOfDot(s.headDim);
  Expr kv = min(u, keys - 1);
  auto element = [&](const Expr &column) {
    if (s.has(Operand::rotation))
      return turnedKey.at(column, kv, h);
    return widened(key(int(s.keyOffset) + h * int(s.headDim) + column, keyRow + kv));
  };
  keyMost = largestOf("key_most", s.headDim, element);
  keyIntegers = make("key_integers");
  keyIntegers(d, u, h) = cast<int16_t>(
      asInteger(multiplied(element(d), inverseStepOf(keyMost.all(u, h), most))));
  Expr isOne = u < keys;
  if (s.has(Operand::keyBias))
    isOne = isOne && isKept(kv);
  keyStep = make("key_step");
  keyStep(u, h) = select(isOne, stepOf(keyMost.all(u, h), most), 0.0f);

  // The logarithm of a value's step, beside what else is added to a key's scores.
  Expr inverse = valueInverse(kv, h);
  Expr log = select(inverse > 0.0f, multiplied(logOf(inverse), float(-log2e)), 0.0f);
  if (s.has(Operand::keyBias))
    log = added(log, multiplied(at(Operand::keyBias)(0, keyRow + kv), float(log2e)));
  keyLog = make("key_log");
  keyLog(u, h) = select(isOne, log, hidden);
}

// How many integers a value's 1 is; NaN where one is no number.
void AttentionPipe::prepareValues() {
  Expr kv = min(u, keys - 1);
  auto element = [&](const Expr &column) { return valueAt(column, kv, h); };
  valueMost = largestOf("value_most", s.valueDim, element);
  Expr most = valueMost.all(u, h), nan = 0x7fc00000;
  most = max(most, reinterpret<int32_t>(Expr(leastMagnitude)));
  Expr inverse = inverseStepOf(select(most >= 0x7f800000, nan, most), mostValue);
  valueInverse = make("value_inverse");
  valueInverse(u, h) = s.has(Operand::keyBias) ? select(isKept(kv), inverse, 0.0f) : inverse;
}

void AttentionPipe::scoreIntegers() {
  prepareValues();
  prepareKeys();
  dots = make("dots");
  RDom rd(0, 2, 0, int(s.headDim / 2), names("rd"));
  depthHalf = rd.x;
  depth = rd.y;
  dots(q, ki, ko, e, b, h) = 0;
  dots(q, ki, ko, e, b, h) +=
      cast<int32_t>(queryWords.pairs(rd.x, q, rd.y, b, h)) *
      cast<int32_t>(keyIntegers(rd.y * 2 + rd.x, keyOfTile(ko, ki), kvHead));
  keepScores([&](const Expr &dot, const Expr &kv) {
    Expr own = keyOfTile(ko, ki), log = keyLog(own, kvHead), others = biasesOf(kv);
    Expr score = multiplied(multiplied(cast<float>(dot), keyStep(own, kvHead)),
                            queryStep(q, b, h));
    if (s.softcap > 0)
      return hiddenWith(log, added(capped(score, others), log));
    score = added(score, log);
    return Internal::is_const(others) ? score : hiddenWith(log, added(score, others));
  });
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
  auto integerOf = [&](const Expr &i) { return asInteger(tileWeights(q, i, r, e, b, h)); };
  // Nothing of a value that is not seen, which may be no number.
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
    return asInteger(multiplied(valueAt(rv, kv, h), valueInverse(kv, h)));
  };
  valueWords.words(d, u, h) = undef<uint32_t>();
  valueWords.words(rv, u, h) = wordOf(elementAt(2 * u), elementAt(2 * u + 1));
  readAsPairs(valueWords, Int(16), half, {d, u, h});

  // Of weights and values, by tiles of keys, counted in their stretch.
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
      cast<int32_t>(weightWords.pairs(r.x, laneOf(q), r.y, tile, e, t / tiles(), h)) *
      cast<int32_t>(valueWords.pairs(r.x, d, (keyAt(e) + tile * keyTile) / 2 + r.y, kvHead));
  mixedHalves = {r.x};
  mixedKeys = {r.y};
  mixedTiles = {r.z};
  RDom rc(0, (tilesTogether() + (tilesOfChunk - 1)) / tilesOfChunk, names("chunk"));
  restrict(rc, firstTile + rc * tilesOfChunk, tilesOfChunk);
  chunk = rc;
  mixed = make("mixed");
  mixed(d, q, t, e, h) = mixedBefore();
  mixed(d, q, t, e, h) = added(mixed(d, q, t, e, h), cast<float>(partial(d, q, rc, t, e, h)));
}

} // namespace mille
