// Attention of bf16 by multiply-adds of pairs: of head dimensions for scores,
// of keys for values. The softmax is f32; weights are rounded to bf16, and the
// divisor is the sum of the rounded weights.
// Must not round queries and keys again, except after a rotation.
#include "compiler/halide/Elements.h"
#include "compiler/halide/Functions.h"
#include "compiler/halide/OneRounding.h"
#include "compiler/halide/attention/AttentionPipe.h"

using namespace Halide;

namespace mille {

Expr AttentionPipe::halfOf(const Expr &x) { return reinterpret<uint16_t>(x); }
Expr AttentionPipe::whereWeighed(const Expr &weight, const Expr &x) {
  return reinterpret<bfloat16_t>(
      select(halfOf(weight) != 0, halfOf(x), cast<uint16_t>(0)));
}
Expr AttentionPipe::wordOfHalves(const Expr &low, const Expr &high) {
  return cast<uint32_t>(low) | (cast<uint32_t>(high) << 16);
}
Expr AttentionPipe::elementOf(const Expr &word, const Expr &half) {
  return reinterpret<bfloat16_t>(
      cast<uint16_t>(word >> cast<uint32_t>(16 * half)));
}
Expr AttentionPipe::productOf(const Expr &x, const Expr &y) {
  return cast<float>(x) * cast<float>(y);
}

Expr AttentionPipe::sumOfWord(const Expr &word) {
  return added(reinterpret<float>(word << cast<uint32_t>(16)),
               reinterpret<float>(word & Expr(uint32_t(0xffff0000))));
}

bool AttentionPipe::isOfPairs(const AttentionSpec &s) {
  for (const BufferSpec *buffer : {&s.query, &s.key, &s.value})
    if (!isBf16(buffer->element))
      return false;
  return !s.decay && !valueIsKey(s) && s.headDim % 2 == 0 && s.headDim >= 4;
}
bool AttentionPipe::takesPairs(const AttentionSpec &s, const Machine &machine) {
  return machine.pairs && isOfPairs(s);
}

Words AttentionPipe::wordsNamed(const char *words, const char *pairs) {
  return {make(words), make(pairs)};
}

// [half, lane, pair of d, block, head]
void AttentionPipe::transposePairs() {
  if (s.has(Operand::rotation)) {
    turnedQuery = turn(query, s.queryOffset, int(s.heads), 0, "turned_query");
    turnedKey = turn(key, s.keyOffset, int(s.kvHeads), keyRow, "turned_key");
    roundedKey = make("rounded_key");
    roundedKey(d, u, h) = rounded(turnedKey.at(d, u, h), Element::bf16);
  }
  Expr lane = t * quad + q, row = queryRow(b, lane), of = headOf(lane);
  auto element = [&](const Expr &column) {
    if (s.has(Operand::rotation))
      return halfOf(rounded(turnedQuery.at(column, row, of), Element::bf16));
    return halfOf(
        query(int(s.queryOffset) + of * int(s.headDim) + column, row));
  };
  quads = make("quads");
  quads(q, d, t, b, h) = wordOfHalves(element(2 * d), element(2 * d + 1));
  queryWords = wordsNamed("query_words", "query_pairs");
  queryWords.words(q, d, b, h) = quads(q % quad, d, q / quad, b, h);
  readAsParts(queryWords, BFloat(16), half, {q, d, b, h});
}

void AttentionPipe::scorePairs() {
  dots = make("dots");
  RDom rd(0, 2, 0, int(s.headDim / 2), names("rd"));
  depthHalf = rd.x;
  depth = rd.y;
  if (few)
    leaveOutPanels(rd);
  Expr column = rd.y * 2 + rd.x, kv = keyOf(ko);
  Expr factorOfKey = s.has(Operand::rotation)
                         ? roundedKey(column, kv, kvHead)
                         : keyElement(column, placeOf(ko), kvHead);
  dots(q, ki, ko, e, b, h) = 0.0f;
  Expr factorOfQuery = inTiles
                           ? elementOf(queryWords.words(q, rd.y, b, h), rd.x)
                           : queryWords.parts(rd.x, q, rd.y, b, h);
  dots(q, ki, ko, e, b, h) += productOf(factorOfQuery, factorOfKey);
  if (s.has(Operand::keyMask))
    findKeyTerms();
  Expr factor = factorOf(q), others = Internal::simplify(biasesOf(kv));
  const bool alone = s.softcap <= 0 && Internal::is_const(others);
  // A constant factor is applied in the exponential, where it costs nothing.
  // Panels are read in one stretch or in several with the same bits.
  if (alone && !keyTerm.defined() && !s.panels && Internal::is_const(factor) &&
      s.scale > 0 && !s.has(Operand::sink)) {
    lateFactor = factor;
    return keepScores(dotHere());
  }
  Expr score = multiplied(dotHere(), factor);
  if (!alone)
    score = s.softcap > 0 ? capped(score, others) : added(score, others);
  if (!keyTerm.defined())
    return keepScores(score);
  Expr term = keyTerm(keyOfTile(ko, ki), kvHead);
  keepScores(hiddenWith(term, (alone ? dotHere() * factor : score) +
                                  term)); // one rounding
}

// What is subtracted from scores before the exponential.
void AttentionPipe::findStart() {
  start = make("start");
  bool late =
      lateFactor.defined() && !stretched; // carryTop has applied it already
  start(q, e, b, h) =
      (late ? top(q, e, b, h) * lateFactor : top(q, e, b, h)) + 0.5f;
}

// The weights of two keys, rounded to bf16, as a word.
Expr AttentionPipe::weightsOfPair(const Expr &first, const Expr &second) {
  auto weightOf = [&](const Expr &score) {
    Expr scaled = lateFactor.defined() ? score * lateFactor : score;
    return exp2Half(scaled - start(q, e, b, h));
  };
  return (weightOf(first) >> cast<uint32_t>(16)) |
         (weightOf(second) & Expr(uint32_t(0xffff0000)));
}

// [half, lane, pair of tile, key tile, stretch, block, head]
void AttentionPipe::weighPairs() {
  findTop();
  RDom r = tilesOf("weight_tile", b);
  weightTile = r;
  findStart();
  const int pairs = keyTile / 2;
  tileWeights = make("tile_words");
  tileWeights(q, kp, ko, e, b, h) = weightsOfPair(
      scores(q, 2 * kp, ko, e, b, h), scores(q, 2 * kp + 1, ko, e, b, h));
  // The sum of the rounded weights, in f32; the words after a tile are its sum.
  weightWords = wordsNamed("weight_words", "weight_pairs");
  Func &words = weightWords.words;
  words(q, kp, ko, e, b, h) = undef<uint32_t>();
  words(q, kp, r, e, b, h) =
      select(kp < pairs, tileWeights(q, min(kp, pairs - 1), r, e, b, h),
             reinterpret<uint32_t>(combined(
                 pairs,
                 [&](const Expr &i) {
                   return sumOfWord(tileWeights(q, i, r, e, b, h));
                 },
                 added)));
  sumWords(BFloat(16));
}

// The sum of weights; the words after a tile are the tile's sum in f32.
void AttentionPipe::sumWords(Type type) {
  readAsParts(weightWords, type, half, {q, kp, ko, e, b, h});
  RDom r = tilesOf("sum_tile", b);
  sumTile = r;
  sum = make("sum");
  sum(q, e, b, h) = sumBefore();
  sum(q, e, b, h) =
      added(sum(q, e, b, h),
            reinterpret<float>(weightWords.words(q, keyTile / 2, r, e, b, h)));
  invert();
}

// [half, column, pair of keys, head]: values by pairs, which a state's panels
// are already.
void AttentionPipe::pairValues() {
  RDom rv(0, int(s.valueDim), names("value_column"));
  valueColumn = rv;
  valueWords = wordsNamed("value_words", "value_pairs");
  auto elementAt = [&](const Expr &kv) {
    return halfOf(
        value(int(s.valueOffset) + h * int(s.valueDim) + rv, keyRow + kv));
  };
  Expr second = 2 * u + 1;
  valueWords.words(d, u, h) = undef<uint32_t>();
  valueWords.words(rv, u, h) =
      wordOfHalves(elementAt(2 * u), elementAt(min(second, keys - 1))) &
      select(second < keys, Expr(uint32_t(0xffffffff)), Expr(uint32_t(0xffff)));
  readAsParts(valueWords, BFloat(16), half, {d, u, h});
}

// Of panels tile by tile, so that a panel is looked up once for several pairs.
AttentionPipe::KeyPairs AttentionPipe::pairsOfKeys(const char *name) {
  const int pairs = keyTile / 2;
  KeyPairs p;
  if (!s.panels) {
    Expr all = stretched ? min(keys + 1, stretchKeys) / 2 : (keys + 1) / 2;
    p.all = RDom(0, 2, 0, all, names(name));
    p.first = p.beside = keyAt(e) + p.all.y * 2;
    p.ofTile = p.all.y % pairs;
    p.keyTile = p.all.y / pairs;
  } else {
    const int each = std::min(pairs, MILLE_PANEL_ROWS / 2);
    p.all =
        RDom(0, 2, 0, each, 0, tilesTogether() * (pairs / each), names(name));
    p.beside = keyAt(e) + p.all.z * (2 * each);
    p.first = p.beside + p.all.y * 2;
    p.ofTile = p.all.z % (pairs / each) * each + p.all.y;
    p.keyTile = p.all.z / (pairs / each);
    mixedTiles.push_back(p.all.z);
  }
  mixedHalves.push_back(p.all.x);
  mixedKeys.push_back(p.all.y);
  return p;
}

// [column, query of tile, tile, stretch, head]
void AttentionPipe::mixPairs() {
  if (!s.panels)
    pairValues();
  mixed = make("mixed");
  mixed(d, q, t, e, h) = mixedBefore();
  const bool hides = s.hidesKeys();
  if (hides)
    lookForNan();
  for (bool careful : {false, true}) {
    if (careful && !hides)
      continue;
    Range from = seenByTile(0), to = seenByTile(mixedTile.rows - 1);
    KeyPairs pairs = pairsOfKeys(careful ? "r3" : "r2");
    RDom &r = pairs.all;
    Expr kv = pairs.first;
    if (from.first.defined())
      r.where(kv + 1 >= from.first);
    Expr last = lastOf({from.first, endBySound(to.last, careful)});
    if (last.defined())
      r.where(kv <= last);
    if (s.panels) // no panel is begun that has no such key
      r.where(pairs.beside <= last);
    Expr weight = weightWords.parts(r.x, laneOf(q), pairs.ofTile, pairs.keyTile,
                                    e, t / tiles(), h);
    Expr x = s.panels ? valueElement(d, kv + r.x, kvHead, pairs.beside)
                      : valueWords.parts(r.x, d, kv / 2, kvHead);
    if (careful)
      x = whereWeighed(weight, x);
    mixed(d, q, t, e, h) += productOf(weight, x);
  }
}

} // namespace mille
