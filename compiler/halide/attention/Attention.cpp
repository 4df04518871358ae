// Attention with queries in the vector's lanes: scores are transposed, so
// maxima and sums are vertical. Must see nothing of a hidden key, not even NaN:
// its score is chosen away before use, and so is its value where that is not
// finite.
#include "compiler/halide/Elements.h"
#include "compiler/halide/Functions.h"
#include "compiler/halide/attention/AttentionPipe.h"
#include "compiler/halide/attention/AttentionSteps.h"

using namespace Halide;

namespace mille {
namespace {

using Operand = AttentionOperand;

// A head's value from a table known at compile time.
Expr chosen(const std::vector<double> &values, const Expr &index,
            double factor) {
  Expr value = float(values.back() * factor);
  for (int i = int(values.size()) - 2; i >= 0; --i)
    value = select(index == i, float(values[i] * factor), value);
  return value;
}

} // namespace

Pipe AttentionPipe::build() {
  declareOperands();
  placeTask();
  if (device) {
    pipe.out(d, m, h, z) = rounded(outcome(), spec.out.element);
    scheduleOnDevice();
    return std::move(pipe);
  }
  Expr rows = rowLast - row0 + 1, few = keys <= stretchKeys;
  AttentionPipe whole(*this), parts(*this);
  whole.placeRows("", rows, few);
  parts.placeRows("_parts", rows, !few);
  parts.takeStretches();
  if (integral)
    whole.findFirstKey();
  boundOut();
  for (AttentionPipe *form : {&whole, &parts}) {
    pipe.out(d, row0 + form->row / together,
             form->ownHeads * together + form->row % together) =
        rounded(form->outcome(), spec.out.element);
    form->schedule();
    pipe.passes.insert(pipe.passes.end(), form->pipe.passes.begin(),
                       form->pipe.passes.end());
  }
  return std::move(pipe);
}

// A form of the algorithm, for so many rows: nothing is prepared for one that a
// run does not take. Heads that are together follow each other in each row.
void AttentionPipe::placeRows(const char *form, const Expr &count,
                              const Expr &taken) {
  suffix = form;
  const int group = int(s.group()), parts = group / together;
  auto heads = pipe.out.output_buffer().dim(2);
  const bool one = s.kvHeads == 1; // whose heads are cut into tasks
  RDom r(0, count * together, one ? heads.min() / together : Expr(0),
         one ? heads.extent() / together : Expr(parts),
         one ? Expr(0) : heads.min() / group,
         one ? Expr(1) : heads.extent() / group,
         names(("row" + suffix).c_str()));
  r.where(taken);
  row = r.x;
  headsOfKey = r.y;
  keyHead = r.z;
  ownHeads = one ? Expr(r.y) : r.z * parts + r.y;
  block = RVar(names(("block" + suffix).c_str()));
}

// The value at out's column d, row m or the form's row, head h.
Expr AttentionPipe::outcome() {
  findLaneRows();
  if (integral)
    prepareValues();
  if (scoresIntegers()) {
    transposeIntegers();
    scoreIntegers();
  } else if (paired) {
    transposePairs();
    scorePairs();
  } else {
    transposeQueries();
    score();
  }
  if (integral) {
    weighIntegers();
    mixIntegers();
  } else if (paired) {
    weighPairs();
    inTiles ? mixInTiles() : mixPairs();
  } else {
    weigh();
    mix();
  }
  Expr local = device ? Expr(m) : Expr(row);
  Expr of = device ? z * int(s.heads) + h : ownHeads;
  Expr lane = local % mixedTile.rows, tile = local / mixedTile.rows;
  if (stretched)
    followStretches();
  if (inTiles)
    return turned(
        [&](const Expr &column, const Expr &lane, const Expr &block) {
          return stretched ? kept(column, lane, 0, block, h)
                           : result(column, lane, block, 0, h);
        },
        local);
  if (!stretched)
    return result(d, lane, tile, 0, of);
  return kept(d, lane, tile % tiles(), tile / tiles(), of);
}

void AttentionPipe::schedule() {
  inTiles ? scheduleRowsInTiles() : scheduleRows();
  if (stretched)
    scheduleStretches();
  if (firstKept.defined())
    firstKept.compute_root();
  if (scoresIntegers()) {
    scheduleQueryIntegers();
    scheduleScoreIntegers();
  } else if (paired) {
    scheduleQueryPairs();
    scheduleScorePairs();
  } else {
    scheduleQueries();
    scheduleScores();
  }
  if (integral)
    scheduleMixedIntegers();
  else if (paired)
    inTiles ? scheduleMixedInTiles() : scheduleMixedPairs();
  else
    scheduleMixed();
  if (integral || (paired && !inTiles))
    pipe.passes.push_back(shareWords({queryWords, weightWords, valueWords}));
}

//===-- The algorithm -------------------------------------------------------//

// `of` counts heads as h does, of which there are `heads` in each sequence.
TurnedHeads AttentionPipe::turn(const ImageParam &input, int64_t offset,
                                int heads, const Expr &firstRow,
                                const char *name) const {
  auto source = [&](const Expr &column, const Expr &row, const Expr &of) {
    Expr own = device ? of % heads : of;
    return widened(
        input(int(offset) + own * int(s.headDim) + column, firstRow + row));
  };
  Turning turning{s.headDim, s.angles(), s.start, s.interleaved};
  return TurnedHeads(turning, source, at(Operand::rotation), firstRow, names,
                     name);
}

// What a lane's scores are multiplied by. They are in powers of two, so that
// their exponential is quick.
Expr AttentionPipe::factorOf(const Expr &lane) {
  Expr factor = float(s.softcap > 0 || isLinear() ? s.scale : s.scale * log2e);
  auto times = [&](const Expr &by) { factor = multiplied(factor, by); };
  const bool byHead =
      s.has(Operand::headScale) && s[Operand::headScale]->columns > 1;
  if (s.has(Operand::headScale))
    times(at(Operand::headScale)(byHead ? headOf(q) : Expr(0)));
  const bool byLane = s.has(Operand::queryScale) || (byHead && together > 1);
  if (!byLane)
    return factor;
  if (s.has(Operand::queryScale))
    times(at(Operand::queryScale)(0, queryRow(b, q)));
  factors = make("factors");
  factors(q, b, h) = factor;
  return factors(lane, b, h);
}

// [lane, d, block, head]: queries in lanes, what scales scores multiplied in.
//
// Heads are turned here, not in the projection's epilogue. Measured for 32
// heads of 128 (zen4, one thread; a kernel.rotate of its own bounds an epilogue
// from above): at 1, 128 and 512 tokens 3.4, 126 and 510 us here, 0.5, 75 and
// 990 us there; the layer's matmuls take some 20, 450 and 1800 ms. So one
// launch and one buffer less decide.
void AttentionPipe::transposeQueries() {
  queriesAcross = make("QT");
  Expr lane = u * quad + q;
  Expr from =
      widened(query(int(s.queryOffset) + headOf(lane) * int(s.headDim) + d,
                    queryRow(b, lane)));
  if (s.has(Operand::rotation)) {
    turnedQuery = turn(query, s.queryOffset, int(s.heads), 0, "turned_query");
    turnedKey = turn(key, s.keyOffset, int(s.kvHeads),
                     device ? h / int(s.kvHeads) * keys : keyRow, "turned_key");
    from =
        turnedQuery.at(d, queryRow(b, lane), device ? Expr(h) : headOf(lane));
  }
  // Four queries side by side first: a transposition in two steps of few
  // shuffles.
  quads = make("quads");
  quads(q, d, u, b, h) = from * factorOf(lane);
  queriesAcross(q, d, b, h) = quads(q % quad, d, q / quad, b, h);
}

// What depends on the distance of a key from a query, as a strip of it: lanes
// read it side by side.
Expr AttentionPipe::byDistance(const Expr &kv,
                               const std::function<Expr(Expr)> &value) {
  strip = make("strip");
  Expr end = stretched ? keyAt(e + 1) : keys;
  strip(u, e, b, h) = value(end - u - (position0 + row0 + b * queryBlock));
  return strip(q - kv + end, e, b, h);
}

// All that is added to a score, times log2 e.
Expr AttentionPipe::biasesOf(const Expr &kv) {
  Expr sum = 0.0f, scaled = 0.0f;
  Expr row = queryRow(b, q), distance = kv - (position0 + row);
  if (s.has(Operand::keyBias) && !keyTerm.defined())
    sum += at(Operand::keyBias)(0, keyRow + kv);
  if (s.has(Operand::keyHeadBias))
    sum += at(Operand::keyHeadBias)(head, keyRow + kv);
  for (Operand operand : {Operand::contentQuery, Operand::contentKey})
    if (s.has(operand)) {
      int each = int(s[operand]->columns / s.heads), most = each / 2;
      Expr column = head * each + clamp(distance, -most, most) + most;
      bool ofQuery = operand == Operand::contentQuery;
      sum += at(operand)(column, ofQuery ? row : keyRow + kv);
    }
  if (s.has(Operand::bias) && !s.biasByDistance)
    sum += at(Operand::bias)((row - sequence * queries) * keys + kv, head);
  scaled = sum * float(log2e);
  if (s.has(Operand::bias) && s.biasByDistance) {
    int most = int(s[Operand::bias]->columns / 2);
    scaled += byDistance(kv, [&](const Expr &far) {
      return at(Operand::bias)(clamp(far, -most, most) + most, head) *
             float(log2e);
    });
  }
  if (!s.slopes.empty())
    scaled += chosen(s.slopes, head, log2e) * cast<float>(distance);
  return scaled;
}

Expr AttentionPipe::keyOf(const Expr &tile) const {
  return min(keyAt(e) + tile * keyTile + ki, keys - 1);
}

// Of bf16 without instructions for its products: every block of queries reads
// keys and values, and to widen a key takes three instructions for each
// multiply-add of two.
bool AttentionPipe::widens(const BufferSpec &of) const {
  return !device && !paired && !integral && isBf16(of.element);
}
Expr AttentionPipe::keyFactor(const Expr &column, const Expr &kv) {
  if (s.has(Operand::rotation))
    return turnedKey.at(column, kv, kvHead);
  auto from = [&](const Expr &column, const Expr &kv, const Expr &head) {
    return widened(
        key(int(s.keyOffset) + head * int(s.headDim) + column, keyRow + kv));
  };
  if (!widens(s.key))
    return from(column, kv, ownKvHead());
  widenedKey = make("widened_key");
  widenedKey(d, u, h) = from(d, u, h);
  return widenedKey(column, inTask(kv), kvHead);
}
// Keys that the task's rows see and the others of their tiles are all that are
// read.
Expr AttentionPipe::inTask(const Expr &kv) const {
  Expr from = seenFrom(position0 + row0).first,
       to = seenFrom(position0 + rowLast).last;
  const int others = keyTile - 1;
  Expr low = from.defined() ? clamp(from - others, 0, keys - 1) : Expr(0);
  Expr high = to.defined() ? clamp(to + others, low, keys - 1) : keys - 1;
  return unsafe_promise_clamped(kv, low, high);
}

// [lane, key of tile, key tile, stretch, block, head]. The last tile repeats
// the last key; what that gives is not read.
void AttentionPipe::score() {
  dots = make("dots");
  RDom rd(0, int(s.headDim), names("rd"));
  depth = rd;
  Expr kv = keyOf(ko), factor = keyFactor(rd, kv);
  const bool biasFirst = s.softcap <= 0 && !isLinear();
  dots(q, ki, ko, e, b, h) = biasFirst ? biasesOf(kv) : Expr(0.0f);
  dots(q, ki, ko, e, b, h) += queriesAcross(q, rd, b, h) * factor;
  keepScores(s.softcap > 0 ? capped(dotHere(), biasesOf(kv)) : dotHere());
}

// Written by the tiles that are seen; what the others hold is not read.
void AttentionPipe::keepScores(Expr score) {
  RDom r = tilesOf("score_tile", b);
  scoreTile = r;
  score = chosenScore(score, keyOf(ko));
  if (!isLinear() && !keyTerm.defined()) // what repeats the last key is hidden
    score = select(likely(keyAt(e) + ko * keyTile + ki < keys), score, hidden);
  tileScores = make("tile_scores");
  tileScores(q, ki, ko, e, b, h) = score;
  scores = make("scores");
  scores(q, ki, ko, e, b, h) = undef<float>();
  scores(q, ki, r, e, b, h) = withSummary(
      ki, keyTile, [&](const Expr &i) { return tileScores(q, i, r, e, b, h); },
      [&](const Expr &x, const Expr &y) { return larger(x, y); });
}

// Halide makes a chain of a tree of its own maxima: of the 32 keys of tile
// registers it takes longer than all else that is done with their scores.
Expr AttentionPipe::larger(const Expr &x, const Expr &y) const {
  return inTiles ? select(oneRounding(Internal::Call::strict_lt, x, y), y, x)
                 : max(x, y);
}

// The rows of a tile as a tree, which is shorter than a chain.
Expr AttentionPipe::combined(int rows, const std::function<Expr(Expr)> &at,
                             const Combine &combine) {
  std::vector<Expr> left;
  for (int i = 0; i < rows; ++i)
    left.push_back(at(i));
  for (; left.size() > 1; left.resize((left.size() + 1) / 2))
    for (size_t i = 0; i < left.size() / 2; ++i)
      left[i] = combine(left[i], left[left.size() - 1 - i]);
  return left.front();
}
// The rows of a tile and, after them, what they combine to: so nobody reads all
// of them again for it.
Expr AttentionPipe::withSummary(const Expr &row, int rows,
                                const std::function<Expr(Expr)> &at,
                                const Combine &combine) {
  return select(row < rows, at(min(row, rows - 1)),
                combined(rows, at, combine));
}

Expr AttentionPipe::capped(const Expr &score, const Expr &biases) const {
  return tanhOf(score * float(1 / s.softcap)) * float(s.softcap * log2e) +
         biases;
}

// A score or, where the key is hidden, what counts as none.
Expr AttentionPipe::chosenScore(Expr score, const Expr &kv) {
  if (isLinear()) // a key after the query is hidden
    score *= byDistance(kv, [&](const Expr &far) {
      return exp2Of(decay(head) * float(log2e) * cast<float>(min(far, 0)));
    });
  Expr seen = isSeen(kv);
  if (Internal::is_const_one(seen))
    return score;
  return select(seen, score, isLinear() ? 0.0f : hidden);
}

// Where maxima start: above every hidden score.
Expr AttentionPipe::sinkScore() const {
  if (!s.has(Operand::sink))
    return lowest;
  return max(at(Operand::sink)(headOf(q)) * float(log2e), lowest);
}
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
  top = make("top");
  topTile = combineTiles(stretchTop, tops, scores, "stretch_top", lowest,
                         lowest, maximum);
  carryTop();
}

// f(q, e, b, h): `start` and what all tiles of `of` combine to. A device's
// work-items first combine tiles of their own, from `none` on, in `parts`.
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

// Softmax but for its division; without one the scores are the weights.
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
  tileWeights(q, ki, ko, e, b, h) =
      exp2Weight(scores(q, ki, ko, e, b, h) - top(q, e, b, h));
  weights(q, ki, ko, e, b, h) = undef<float>();
  weights(q, ki, r, e, b, h) = withSummary(
      ki, keyTile, [&](const Expr &i) { return tileWeights(q, i, r, e, b, h); },
      added);
  sumTile = combineTiles(sum, sums, weights, "sum", sumBefore(), 0.0f, added);
  invert();
}
// What mixed values are multiplied by; of a sum that is NaN a NaN.
void AttentionPipe::invert() {
  inverse = make("inverse");
  Expr of = sum(q, e, b, h);
  Expr last = select(reinterpret<int32_t>(of) == 0, 0.0f, 1.0f / of);
  inverse(q, e, b, h) =
      stretched ? select(e == lastStretch(b), last, 1.0f) : last;
}
Expr AttentionPipe::result(const Expr &column, const Expr &lane,
                           const Expr &tile, const Expr &stretch,
                           const Expr &of) {
  Expr value = mixed(column, lane, tile, stretch, of);
  if (isLinear())
    return value;
  // strict, else LLVM makes it a division in some places only
  return multiplied(value, inverse(tile % tiles() * mixedTile.rows + lane,
                                   stretch, tile / tiles(), of));
}

// [column, query of tile, tile, stretch, head]: the tile's own dimensions, as
// in matmul
void AttentionPipe::mix() {
  mixed = make("mixed");
  mixed(d, q, t, e, h) = mixedBefore();
  const bool hides = s.hidesPairs() || s.has(Operand::keyBias);
  const bool looks = hides && !device; // a device is careful with every weight
  if (looks)
    lookForNan();
  for (bool careful : {false, true}) {
    if (careful ? !hides : hides && !looks)
      continue;
    Range from = seenByTile(0), to = seenByTile(mixedTile.rows - 1);
    // By tiles of keys: where its weights lie is then found once for each, not
    // by key.
    RDom r(0, keyTile, 0, tilesTogether(), names(careful ? "r3" : "r2"));
    Expr kv = keyAt(e) + r.y * keyTile + r.x,
         end = endBySound(to.last, careful);
    if (from.first.defined())
      r.where(kv >= from.first);
    r.where(kv <= (end.defined() ? min(end, keys - 1) : keys - 1));
    Expr weight = weights(laneOf(q), r.x, r.y, e, t / tiles(), h);
    Expr x = mixedValue(kv);
    mixed(d, q, t, e, h) +=
        weight * (careful ? select(weight != 0.0f, x, 0.0f) : x);
    mixedKeys.push_back(r.x);
    mixedTiles.push_back(r.y);
  }
}
AttentionPipe::Range AttentionPipe::seenByTile(int lane) const {
  return seenFrom(position0 + rowAt(t * mixedTile.rows + lane));
}
Expr AttentionPipe::mixedValue(const Expr &kv) {
  if (!widens(s.value))
    return valueAt(d, kv, ownKvHead());
  if (!widenedValue.defined()) {
    widenedValue = make("widened_value");
    widenedValue(d, u, h) = valueAt(d, u, h);
  }
  return widenedValue(d, inTask(kv), kvHead);
}
Expr AttentionPipe::valueAt(const Expr &column, const Expr &kv,
                            const Expr &head) const {
  return widened(
      value(int(s.valueOffset) + head * int(s.valueDim) + column, keyRow + kv));
}

// 0 times a hidden key's value is 0 but for infinity and NaN: all keys, or none
// where there is such a value and weights must be looked at one by one.
void AttentionPipe::lookForNan() {
  worst = make("worst");
  soundKeys = make("sound_keys");
  RDom r(0, keys, names("worst_key"));
  if (!s.hidesPairs())
    r.where(!isKept(r)); // all others are seen by all
  RDom rd(0, int(s.valueDim), names("worst_column"));
  worst(d, h) = 0;
  worst(d, h) = max(worst(d, h), magnitudeOf(valueAt(d, r, h)));
  worstOfAll = make("worst_of_all");
  worstOfAll(h) = 0;
  worstOfAll(h) = max(worstOfAll(h), worst(rd, h));
  soundKeys(h) = select(worstOfAll(h) < 0x7f800000, keys, 0);
  worstKeys = r;
  worstColumns = rd;
}

Pipe buildAttention(const KernelSpec &spec, const Machine &machine,
                    const Names &names) {
  return AttentionPipe(spec, machine, names).build();
}

} // namespace mille
