// Attention to a state's bytes: keys and values are integers from -127 to 127
// with a step for each row of a head (StatePanels.h). Queries are rounded to
// bytes too, each with a step of its own, so that a score is a sum of products
// of bytes. A weight times the step of its value is the value's share; shares
// of a query and stretch are rounded to 15 bits of their largest, and mix
// integers. Sums of integers are exact, so that they are the same in any order.
// Must see nothing of a hidden key: its score is replaced, and its weight, 0,
// is not multiplied by a step that may be NaN.
#include "compiler/halide/Elements.h"
#include "compiler/halide/Functions.h"
#include "compiler/halide/OneRounding.h"
#include "compiler/halide/attention/AttentionPipe.h"
#include "compiler/halide/attention/AttentionSteps.h"
#include "compiler/halide/passes/KeepSums.h"

using namespace Halide;

namespace mille {
namespace {

constexpr int group = MILLE_KEY_GROUP, panelRows = MILLE_PANEL_ROWS;
constexpr int keyOffset = 128; // added to a key's integers
constexpr int mostShare = INT16_MAX, mostValue = INT8_MAX;
static_assert(int64_t(AttentionPipe::shortStretch) * mostShare * mostValue <=
              INT32_MAX);

// The f32 at a byte of a buffer.
Expr numberAt(const ImageParam &bytes, const Expr &at) {
  return reinterpret<float>(concat_bits(
      {bytes(at, 0), bytes(at + 1, 0), bytes(at + 2, 0), bytes(at + 3, 0)}));
}

} // namespace

// The byte that a head's rows begin with, and the panel of 16 keys with `kv`.
Expr AttentionPipe::firstByte(const ImageParam &held, int64_t size,
                              const Expr &head) {
  return head * (held.dim(1).extent() * int(mille_row_bytes(size)));
}
Expr AttentionPipe::keyPanel(const Expr &kv, const Expr &head) const {
  const int64_t row = mille_row_bytes(s.headDim);
  return firstByte(key, s.headDim, head) +
         kv / panelRows * (panelRows * int(row)) +
         shifted(kv, key, s.kvHeads * row);
}
Expr AttentionPipe::keyByte(const Expr &column, const Expr &kv,
                            const Expr &head) const {
  return key(keyPanel(kv, head) + column / group * (panelRows * group) +
                 kv % panelRows * group + column % group,
             0);
}
Expr AttentionPipe::valueByte(const Expr &column, const Expr &kv,
                              const Expr &head, const Expr &beside) const {
  Expr rows = value.dim(1).extent();
  return reinterpret<int8_t>(
      value(firstByte(value, s.valueDim, head) + rows * MILLE_STEP_BYTES +
                valuePlace(column, kv, MILLE_VALUE_GROUP) +
                shifted(beside, value, s.kvHeads * mille_row_bytes(s.valueDim)),
            0));
}

// The step of a key, and of its value. Few queries read them where they lie,
// with keys in lanes; others gather those of all keys first.
Expr AttentionPipe::stepOfKey(const Expr &kv, const Expr &head) {
  auto step = [&](const Expr &kv, const Expr &head) {
    return numberAt(key, keyPanel(kv, head) + panelRows * int(s.headDim) +
                             kv % panelRows * MILLE_STEP_BYTES);
  };
  if (few)
    return step(kv, head);
  keyStep = make("key_step");
  keyStep(u, h) = step(u, h);
  return keyStep(kv, head);
}
Expr AttentionPipe::stepOfValue(const Expr &kv, const Expr &head) {
  auto step = [&](const Expr &kv, const Expr &head) {
    return numberAt(
        value, firstByte(value, s.valueDim, head) + kv * MILLE_STEP_BYTES +
                   shifted(kv, value, s.kvHeads * mille_row_bytes(s.valueDim)));
  };
  if (few)
    return step(kv, head);
  valueStep = make("value_step");
  valueStep(u, h) = step(u, h);
  return valueStep(kv, head);
}

void AttentionPipe::scoreBytes() {
  dots = make("dots");
  RDom rd(0, group, 0, int(s.headDim / group), names("rd"));
  depthHalf = rd.x;
  depth = rd.y;
  dots(q, ki, ko, e, b, h) = queryTotal(q, b, h) * -keyOffset;
  dots(q, ki, ko, e, b, h) +=
      cast<int32_t>(keyByte(rd.y * group + rd.x, placeOf(ko), kvHead)) *
      cast<int32_t>(queryWords.parts(rd.x, q, rd.y, b, h));
  Expr score =
      multiplied(multiplied(cast<float>(dotHere()), queryStep(q, b, h)),
                 stepOfKey(few ? placeOf(ko) : keyOfTile(ko, ki), kvHead));
  Expr others = Internal::simplify(biasesOf(keyOf(ko)));
  if (s.softcap > 0)
    score = capped(score, others);
  else if (!Internal::is_const(others))
    score = added(score, others);
  keepScores(score);
}

// Shares of a stretch's values, their largest, and the integers of pairs:
// [half, lane, pair of tile, key tile, stretch, block, head].
void AttentionPipe::shareValues() {
  RDom r = tilesOf("share_tile", b);
  shareTile = r;
  shares = make("shares");
  shares(q, ki, ko, e, b, h) = undef<float>();
  Expr weight = weights(q, ki, r, e, b, h);
  Expr kv = few ? keyAt(e) + r * keyTile + ki : keyOfTile(r, ki);
  shares(q, ki, r, e, b, h) =
      select(weight != 0.0f, multiplied(weight, stepOfValue(kv, kvHead)), 0.0f);
  findLargestShare();
  shareInverse = make("share_inverse");
  shareInverse(q, e, b, h) = inverseStepOf(shareMost(q, e, b, h), mostShare);
  shareStep = make("share_step");
  shareStep(q, e, b, h) = stepOf(shareMost(q, e, b, h), mostShare);
  RDom rw = tilesOf("word_tile", b);
  wordTile = rw;
  auto integerOf = [&](const Expr &i) {
    return asInteger(
        multiplied(shares(q, i, rw, e, b, h), shareInverse(q, e, b, h)));
  };
  weightWords = wordsNamed("weight_words", "weight_pairs");
  weightWords.words(q, kp, ko, e, b, h) = undef<uint32_t>();
  weightWords.words(q, kp, rw, e, b, h) =
      (integerOf(2 * kp) & Expr(uint32_t(0xffff))) |
      (integerOf(2 * kp + 1) << cast<uint32_t>(16));
  readAsParts(weightWords, Int(16), half, {q, kp, ko, e, b, h});
}

// As bits, whose order is that of numbers from 0 on, with NaN above all. With
// keys in lanes each lane has a largest first.
void AttentionPipe::findLargestShare() {
  const Combine maximum = [](const Expr &x, const Expr &y) {
    return max(x, y);
  };
  const int rows = few ? keyTile / V : keyTile;
  RDom both(0, rows, 0, tilesTogether(), names(("most_key" + suffix).c_str()));
  restrictTiles(both, both.y, seenByBlock(b));
  shareKey = both.x;
  mostTile = both.y;
  shareMost = make("share_most");
  auto bitsOf = [&](const Expr &i) {
    return magnitudeOf(shares(q, i, both.y, e, b, h));
  };
  if (!few) {
    shareMost(q, e, b, h) = 0;
    shareMost(q, e, b, h) = max(shareMost(q, e, b, h), bitsOf(both.x));
    return;
  }
  shareLanes = make("share_lanes");
  shareLanes(u, q, e, b, h) = 0;
  shareLanes(u, q, e, b, h) =
      max(shareLanes(u, q, e, b, h), bitsOf(both.x * V + u));
  shareMost(q, e, b, h) = combined(
      V, [&](const Expr &i) { return shareLanes(i, q, e, b, h); }, maximum);
}

// [column, query of tile, tile, stretch, head]
void AttentionPipe::mixBytes() {
  shareValues();
  partial = make("partial");
  partial(d, q, t, e, h) = 0;
  Range from = seenByTile(0), to = seenByTile(mixedTile.rows - 1);
  KeyPairs pairs = pairsOfKeys("r2");
  RDom &r = pairs.all;
  Expr kv = pairs.first;
  if (from.first.defined())
    r.where(kv + 1 >= from.first);
  Expr last = to.last.defined() ? min(to.last, keys - 1) : keys - 1;
  r.where(kv <= last);
  r.where(pairs.beside <= last); // no panel is begun that has no such key
  partial(d, q, t, e, h) +=
      cast<int32_t>(weightWords.parts(r.x, laneOf(q), pairs.ofTile,
                                      pairs.keyTile, e, t / tiles(), h)) *
      cast<int32_t>(
          cast<int16_t>(valueByte(d, kv + r.x, kvHead, pairs.beside)));
  mixed = make("mixed");
  mixed(d, q, t, e, h) = multiplied(cast<float>(partial(d, q, t, e, h)),
                                    shareStep(laneOf(q), e, t / tiles(), h));
}

//===-- Schedule ------------------------------------------------------------//

// Of few queries, columns are in lanes.
void AttentionPipe::scheduleQueryBytes() {
  if (!few)
    return scheduleQueryIntegers();
  const int width = lanesFor(s.headDim, V);
  for (Func f : {queryMost, queryStep, queryInverse, queryTotal})
    oncePerBlock(f);
  queryMost.update().atomic().vectorize(queryColumn, width).unroll(q);
  queryTotal.update().atomic().vectorize(queryByte, width).unroll(q);
  scheduleWordsOfLanes(group);
}

// Of few queries, keys are in lanes.
void AttentionPipe::scheduleShares() {
  for (Func f : {keyStep, valueStep})
    if (f.defined()) {
      perKeyHead(f);
      f.vectorize(u, V, TailStrategy::RoundUp);
    }
  const int pairs = keyTile / 2;
  for (auto [f, key, rows, tile] : {std::tuple{shares, ki, keyTile, shareTile},
                                    {weightWords.words, kp, pairs, wordTile}}) {
    inStretch(f)
        .bound_extent(q, queryBlock)
        .bound_extent(key, rows)
        .bound(ko, 0, tilesTogether());
    Stage each = Func(f).update();
    if (few) {
      Func(f).reorder_storage(key, ko, q, e, b, h).store_in(MemoryType::Stack);
      each.reorder(key, q, tile).vectorize(key, std::min(rows, V)).unroll(key);
    } else {
      each.reorder(q, key, tile).vectorize(q, V).unroll(key);
    }
    each.unroll(q);
  }
  inStretch(weightWords.parts)
      .bound_extent(half, 2)
      .bound_extent(q, queryBlock)
      .bound_extent(kp, pairs)
      .bound(ko, 0, tilesTogether());
  if (few)
    weightWords.parts.reorder_storage(half, kp, ko, q, e, b, h)
        .store_in(MemoryType::Stack);
  for (Func f : {shareMost, shareInverse, shareStep})
    lanes(f);
  if (!few) {
    shareMost.update()
        .reorder(q, shareKey, mostTile)
        .vectorize(q, V)
        .unroll(q)
        .unroll(shareKey);
    return;
  }
  scheduleByLane(shareLanes, shareKey, mostTile);
}

// `mixed` makes numbers of the sums of integers. Several register tiles of few
// queries add a panel of keys before any adds the next: the values of a stretch
// then come from far memory once, while all of them multiply.
void AttentionPipe::scheduleMixedBytes() {
  scheduleShares();
  const int together = few ? tiles() : 1;
  holdTile(partial, together);
  holdTile(mixed);
  Stage products = partial.update();
  addPairs(products, 0);
  if (together > 1) {
    products.reorder(mixedKeys[0], t, mixedTiles[0]);
    pipe.passes.push_back(keepSums({partial.name(), mixedKeys[0].name()}));
  }
  pipe.passes.push_back(shareWords({queryWords, weightWords}));
}

} // namespace mille
