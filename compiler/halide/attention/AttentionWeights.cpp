// The softmax of scores, and the values that it mixes.
// Must see nothing of a hidden key's value, not even NaN.
#include "compiler/halide/Elements.h"
#include "compiler/halide/Functions.h"
#include "compiler/halide/OneRounding.h"
#include "compiler/halide/attention/AttentionPipe.h"
#include "compiler/halide/attention/AttentionSteps.h"

using namespace Halide;

namespace mille {

using Operand = AttentionOperand;

// Where a maximum of scores starts: above every hidden score.
Expr AttentionPipe::sinkScore(const Expr &head) const {
  if (!s.has(Operand::sink))
    return lowest;
  return max(at(Operand::sink)(head) * float(log2e), lowest);
}
Expr AttentionPipe::sinkScore() const { return sinkScore(headOf(q)); }
void AttentionPipe::findTop() {
  const Combine maximum = [](const Expr &x, const Expr &y) {
    return max(x, y);
  };
  if (!stretched) {
    topTile =
        combineTiles(top, tops, scores, "top", sinkScore(), lowest, maximum);
    return;
  }
  stretchTop = make("stretch_top");
  topTile = combineTiles(stretchTop, tops, scores, "stretch_top", lowest,
                         lowest, maximum);
  carryTop();
}

// f(q, e, b, h): `start` combined with all tiles of `of`. On a device each
// work-item first combines its own tiles in `parts`, starting at `none`.
RVar AttentionPipe::combineTiles(Func &f, Func &parts, Func &of,
                                 const char *name, const Expr &start,
                                 const Expr &none, const Combine &combine) {
  const std::string tile = name + std::string("_tile");
  if (!stretched)
    f = make(name);
  if (!device) {
    RDom r = tilesOf(tile.c_str(), b);
    f(q, e, b, h) = start;
    f(q, e, b, h) = combine(f(q, e, b, h), of(q, keyTile, r, e, b, h));
    return r;
  }
  parts = make((name + std::string("_parts")).c_str());
  RDom r = tilesOfItem(tile.c_str());
  parts(q, u, e, b, h) = none;
  parts(q, u, e, b, h) =
      combine(parts(q, u, e, b, h), of(q, keyTile, r * items + u, e, b, h));
  f(q, e, b, h) = combine(
      start,
      combined(
          items, [&](const Expr &i) { return parts(q, i, e, b, h); }, combine));
  return r;
}

// The softmax without its division. In linear attention the scores are the
// weights.
void AttentionPipe::weigh() {
  if (isLinear()) {
    weights = scores;
    return;
  }
  weights = make("weights");
  findTop();
  RDom r = tilesOf("weight_tile", b);
  weightTile = r;
  tileWeights = make("tile_weights");
  tileWeights(q, ki, ko, e, b, h) = weightOf(scores(q, ki, ko, e, b, h));
  weights(q, ki, ko, e, b, h) = undef<float>();
  if (isApart())
    return sumByLane();
  weights(q, ki, r, e, b, h) = withSummary(
      ki, keyTile, [&](const Expr &i) { return tileWeights(q, i, r, e, b, h); },
      added);
  sumTile = combineTiles(sum, sums, weights, "sum", sumBefore(), 0.0f, added);
  invert();
}
// A score's weight. Bytes are less exact than the coarse exponential.
Expr AttentionPipe::weightOf(const Expr &score) const {
  Expr under = score - top(q, e, b, h);
  return inBytes ? exp2Coarse(under) : exp2Weight(under);
}

// The sum of a stretch that is apart: of the keys in each lane of the form for
// few queries, one after another, then of the lanes.
void AttentionPipe::sumByLane() {
  weights(q, ki, weightTile, e, b, h) = tileWeights(q, ki, weightTile, e, b, h);
  declareSumLanes(keyTile);
  sumLanes(q, u, e, b, h) = 0.0f;
  Expr lane = (sumTile * keyTile + sumVector) % V;
  sumLanes(q, lane, e, b, h) = added(sumLanes(q, lane, e, b, h),
                                     weights(q, sumVector, sumTile, e, b, h));
  joinLanes([&](const Expr &i) { return sumLanes(q, i, e, b, h); });
}
// Declares the sums by lane, over all tiles of a stretch's keys, each tile in
// `each` parts.
void AttentionPipe::declareSumLanes(int each) {
  RDom both(0, each, 0, tilesTogether(), names(("sum_key" + suffix).c_str()));
  restrictTiles(both, both.y, seenByBlock(b));
  sumVector = both.x;
  sumTile = both.y;
  sumLanes = make("sum_lanes");
}
void AttentionPipe::joinLanes(const std::function<Expr(Expr)> &at) {
  sum = make("sum");
  sum(q, e, b, h) = combined(V, at, added);
  invert();
}

// 1 / sum; NaN where the sum is NaN.
Expr AttentionPipe::inverseOf(const Expr &sum) {
  return select(reinterpret<int32_t>(sum) == 0, 0.0f, 1.0f / sum);
}
// The factor of mixed values.
void AttentionPipe::invert() {
  if (few)
    return;
  inverse = make("inverse");
  Expr of = isApart() ? joinedSum() : sum(q, e, b, h);
  Expr last = inverseOf(of);
  inverse(q, e, b, h) =
      stretched ? select(e == lastStretch(b), last, 1.0f) : last;
}
Expr AttentionPipe::result(const Expr &column, const Expr &lane,
                           const Expr &tile, const Expr &stretch,
                           const Expr &of) {
  Expr value = mixed(column, lane, tile, stretch, of);
  if (isLinear())
    return value;
  if (isApart())
    value = keptWith(value, column, lane, tile, stretch, of);
  // A strict product: else LLVM makes it a division in some places only.
  return multiplied(value,
                    inverse(laneOf(lane, tile), stretch, tile / tiles(), of));
}

// [column, query of tile, tile, stretch, head]: a function of a place in a
// tile, as in matmul.
void AttentionPipe::mix() {
  mixed = make("mixed");
  mixed(d, q, t, e, h) = mixedBefore();
  const bool hides = s.hidesKeys();
  // A device tests every weight instead.
  const bool looks = hides && !device;
  if (looks)
    lookForNan();
  for (bool careful : {false, true}) {
    if (careful ? !hides : hides && !looks)
      continue;
    Range from = seenByTile(0), to = seenByTile(mixedTile.rows - 1);
    // By tiles of keys: the address of the weights, and of a panel, is then
    // found once for each tile, not for each key.
    const int each = s.panels ? std::min(keyTile, MILLE_PANEL_ROWS) : keyTile,
              parts = keyTile / each, words = careful ? 1 : keysOfWord(),
              all = each / words;
    const std::string name = names(careful ? "r3" : "r2");
    Expr last = tilesTogether() * parts;
    RDom r = words > 1 ? RDom(0, words, 0, all, 0, last, name)
                       : RDom(0, all, 0, last, name);
    RVar tile = words > 1 ? r.z : r.y, key = words > 1 ? r.y : r.x;
    Expr place = words > 1 ? r.y * words + r.x : Expr(r.x);
    Expr beside = keyAt(e) + tile * each, kv = beside + place,
         end = endBySound(to.last, careful);
    // The loop over words then has copies for a first and a last one of which
    // only one key is seen.
    auto only = [&](const Expr &condition) {
      r.where(words > 1 ? likely(condition) : condition);
    };
    if (from.first.defined())
      only(kv >= from.first);
    end = end.defined() ? min(end, keys - 1) : keys - 1;
    only(kv <= end);
    if (s.panels) // no panel is begun that has no such key
      r.where(beside <= end);
    Expr weight = weights(laneOf(q), tile % parts * each + place, tile / parts,
                          e, t / tiles(), h);
    Expr x = words > 1 ? halfOfValues(r.x, beside + key * words, beside)
                       : mixedValue(kv, beside);
    mixed(d, q, t, e, h) +=
        weight * (careful ? select(weight != 0.0f, x, 0.0f) : x);
    if (words > 1)
      mixedWord = r.x;
    mixedKeys.push_back(key);
    mixedTiles.push_back(tile);
  }
}
AttentionPipe::Range AttentionPipe::seenByTile(int lane) const {
  return seenFrom(position0 + rowAt(t * mixedTile.rows + lane));
}
Expr AttentionPipe::mixedValue(const Expr &kv, const Expr &beside) {
  if (!widens(s.value))
    return valueAt(d, kv, kvHeadInSequence(), beside);
  if (!widenedValue.defined()) {
    widenedValue = make("widened_value");
    widenedValue(d, u, h) = valueAt(d, u, h, u);
  }
  return widenedValue(d, inTask(kv), kvHead);
}
// The value of `first`, which is even, or of the key after it: their elements
// are a word, of which each half is one instruction.
Expr AttentionPipe::halfOfValues(const Expr &half, const Expr &first,
                                 const Expr &beside) const {
  auto bitsOf = [&](const Expr &kv) {
    return halfOf(valueElement(d, kv, kvHeadInSequence(), beside));
  };
  Expr word = concat_bits({bitsOf(first), bitsOf(first + 1)});
  return reinterpret<float>(
      select(half == 0, word << 16u, word & Expr(uint32_t(0xffff0000))));
}
Expr AttentionPipe::valueAt(const Expr &column, const Expr &kv,
                            const Expr &head, const Expr &beside) const {
  return widened(valueElement(column, kv, head, beside));
}

// The first key that is mixed and that some query of the task does not see, or
// one before it. A task of a few tokens behind thousands then looks at its own
// alone. Keys before a window are not mixed, but for the other of a pair.
Expr AttentionPipe::firstUnseen() {
  Range range = seenFrom(position0 + row0);
  if (range.first.defined())
    return max(range.first - 1, 0);
  if (s.has(Operand::segments))
    return 0;
  Expr unseen = range.last.defined() ? min(range.last + 1, keys) : keys;
  if (!s.has(Operand::keyMask))
    return unseen;
  if (!firstHidden.defined()) {
    RDom r(0, keys, names(("hidden_key" + suffix).c_str()));
    hiddenKey = r;
    firstHidden = make("first_hidden");
    firstHidden() = keys;
    firstHidden() = min(firstHidden(), select(isKept(r), keys, r));
  }
  return clamp(min(firstHidden(), unseen), 0, keys);
}

// Whether some query of the task does not see a key, where the mask and ranges
// say who sees whom.
Expr AttentionPipe::isUnseen(const Expr &kv) const {
  Range first = seenFrom(position0 + row0),
        last = seenFrom(position0 + rowLast);
  Expr unseen = Internal::const_false();
  if (first.last.defined())
    unseen = kv > first.last;
  if (last.first.defined())
    unseen = unseen || kv < last.first;
  if (s.has(Operand::keyMask))
    unseen = unseen || !isKept(kv);
  return unseen;
}

// 0 times a hidden key's value is 0, unless the value is infinite or NaN. So
// soundKeys is the number of keys that may be mixed without a test: all of
// them, or none where such a value exists and each weight must be tested.
void AttentionPipe::lookForNan() {
  worst = make("worst");
  soundKeys = make("sound_keys");
  RDom r(0, few ? min(keys, stretchKeys) : keys, names("worst_key"));
  Expr kv = few ? keyAt(e) + r : Expr(r); // e is 0 for all keys
  if (few)
    r.where(kv < keys);
  if (s.panels)
    r.where(kv >= firstUnseen());
  if (!s.hidesPairs())
    r.where(!isKept(kv)); // every query sees all other keys
  else if (s.panels && !s.has(Operand::segments))
    r.where(isUnseen(kv));
  RDom rd(0, int(s.valueDim), names("worst_column"));
  worst(d, e, h) = 0;
  worst(d, e, h) = max(worst(d, e, h), magnitudeOf(valueAt(d, kv, h, kv)));
  worstOfAll = make("worst_of_all");
  worstOfAll(e, h) = 0;
  worstOfAll(e, h) = max(worstOfAll(e, h), worst(rd, e, h));
  soundKeys(e, h) = select(worstOfAll(e, h) < 0x7f800000, keys, 0);
  worstKeys = r;
  worstColumns = rd;
}

} // namespace mille
