// Attention with queries in the vector's lanes: scores are transposed, so maxima
// and sums are vertical. Must see nothing of a hidden key, not even NaN: its score
// is chosen away before use, and so is its value where that is not finite.
#include "compiler/halide/AttentionPipe.h"
#include "compiler/halide/Elements.h"
#include "compiler/halide/Functions.h"

using namespace Halide;

namespace mille {
namespace {

using Operand = AttentionOperand;
constexpr float masked = -1.0e30f; // a key's bias, or less: the key is hidden

// A head's value from a table known at compile time.
Expr chosen(const std::vector<double> &values, const Expr &index, double factor) {
  Expr value = float(values.back() * factor);
  for (int i = int(values.size()) - 2; i >= 0; --i)
    value = select(index == i, float(values[i] * factor), value);
  return value;
}

const char *nameOf(Operand operand) {
  switch (operand) {
  case Operand::keyBias: return "key_bias";
  case Operand::keyHeadBias: return "key_head_bias";
  case Operand::rotation: return "rotation";
  case Operand::queryScale: return "query_scale";
  case Operand::headScale: return "head_scale";
  case Operand::sink: return "sink";
  case Operand::bias: return "bias";
  case Operand::contentQuery: return "content_query";
  case Operand::contentKey: return "content_key";
  case Operand::segments: return "segments";
  case Operand::prefix: return "prefix";
  }
  return "";
}

} // namespace

Pipe AttentionPipe::build() {
  declareOperands();
  placeTask();
  paired ? transposePairs() : transposeQueries();
  paired ? scorePairs() : score();
  paired ? weighPairs() : weigh();
  paired ? mixPairs() : mix();
  Expr local = device ? Expr(m) : m - row0;
  Expr of = device ? z * int(s.heads) + h : Expr(h);
  Expr value = mixed(d, local % mixedTile.rows, local / mixedTile.rows, of);
  if (!isLinear()) // strict, else LLVM makes it a division in some places only
    value = oneRounding(Internal::Call::strict_mul, value,
                        inverse(local % queryBlock, local / queryBlock, of));
  if (device) {
    pipe.out(d, m, h, z) = rounded(value, spec.out.element);
    scheduleOnDevice();
    return std::move(pipe);
  }
  pipe.out(d, m, h) = rounded(value, spec.out.element);
  scheduleOut();
  paired ? scheduleQueryPairs() : scheduleQueries();
  paired ? scheduleScorePairs() : scheduleScores();
  paired ? scheduleMixedPairs() : scheduleMixed();
  if (paired)
    pipe.passes.push_back(shareWords({queryWords, weightWords, valueWords}));
  return std::move(pipe);
}

//===-- Operands ------------------------------------------------------------//

void AttentionPipe::declareOperands() {
  query = bufferOf(s.query, names("query"));
  key = bufferOf(s.key, names("key"));
  value = bufferOf(s.value, names("value"));
  pipe.arguments = {query, key, value};
  for (int i = 0; i < attentionOperands; ++i) {
    if (!s.optional[i])
      continue;
    Operand operand = Operand(i);
    bool whole = operand == Operand::segments || operand == Operand::prefix;
    optional[i] = whole ? ImageParam(Int(32), 1, names(nameOf(operand)))
                        : bufferOf(*s.optional[i], names(nameOf(operand)));
    pipe.arguments.push_back(optional[i]);
  }
  if (isLinear()) {
    decay = bufferOf(*s.decay, names("decay"));
    pipe.arguments.insert(pipe.arguments.end(), {decay, queries});
  } else {
    pipe.arguments.insert(pipe.arguments.end(), {queries, keyCount, firstOf});
  }
  keys = isLinear() ? Expr(queries) : Expr(keyCount);
  first = isLinear() ? Expr(0) : Expr(firstOf);
}

// The task's rows lie in one sequence; query blocks count from its first row.
void AttentionPipe::placeTask() {
  pipe.out = make("out");
  head = h;
  kvHead = s.kvHeads == 1 && !device ? Expr(0) : h / int(s.group());
  if (device) {
    placeSequences();
    return;
  }
  // Nothing is stored by this: it makes the out's range known to what follows.
  pipe.out(d, m, h) = undef(typeOf(spec.out.element));
  auto rows = pipe.out.output_buffer().dim(1);
  row0 = rows.min();
  rowLast = row0 + rows.extent() - 1;
  sequence = row0 / queries;
  keyRow = sequence * keys;
  position0 = first - sequence * queries;
}

// In its sequence.
Expr AttentionPipe::ownKvHead() const {
  return device ? kvHead % int(s.kvHeads) : kvHead;
}

// Lanes past the last row repeat it.
Expr AttentionPipe::queryRow(const Expr &block, const Expr &lane) const {
  return min(row0 + block * queryBlock + lane, rowLast);
}

//===-- Who sees whom -------------------------------------------------------//

// Keys that a query at a position may see; both ends grow with the position.
AttentionPipe::Range AttentionPipe::seenFrom(const Expr &position) const {
  Range range;
  auto atLeast = [&](const Expr &low) {
    range.first = range.first.defined() ? max(range.first, low) : low;
  };
  auto atMost = [&](const Expr &high) {
    range.last = range.last.defined() ? min(range.last, high) : high;
  };
  if (s.causal && s.has(Operand::prefix))
    atMost(max(position, at(Operand::prefix)(sequence) - 1));
  else if (s.causal)
    atMost(position);
  if (s.windowRight)
    atMost(position + int(s.windowRight - 1));
  if (s.windowLeft)
    atLeast(position - int(s.windowLeft - 1));
  if (s.chunk) {
    Expr from = position / int(s.chunk) * int(s.chunk);
    atLeast(from);
    atMost(from + int(s.chunk - 1));
  }
  return range;
}

// Whether a key is seen by anybody at all.
Expr AttentionPipe::isKept(const Expr &kv) const {
  return at(Operand::keyBias)(0, keyRow + kv) > masked;
}

Expr AttentionPipe::isSeen(const Expr &block, const Expr &lane, const Expr &kv) const {
  Expr seen = Internal::const_true();
  Range range = seenFrom(position0 + queryRow(block, lane));
  if (range.first.defined())
    seen = kv >= range.first;
  if (range.last.defined())
    seen = seen && kv <= range.last;
  if (s.has(Operand::segments)) {
    const ImageParam &segments = at(Operand::segments);
    seen = seen && segments(queryRow(block, lane)) == segments(keyRow + kv);
  }
  if (s.has(Operand::keyBias))
    seen = seen && isKept(kv);
  return seen;
}

RDom AttentionPipe::keysOf(const char *name, const Range &range) const {
  RDom r(0, keys, names(name));
  if (range.first.defined())
    r.where(r >= range.first);
  if (range.last.defined())
    r.where(r <= range.last);
  return r;
}
// Tiles that hold a key that some query of a block sees.
RDom AttentionPipe::tilesOf(const char *name, const Expr &block) const {
  RDom r(0, tileCount(), names(name));
  restrictTiles(r, r, block);
  return r;
}
Expr AttentionPipe::tileCount() const { return (keys + keyTile - 1) / keyTile; }
void AttentionPipe::restrictTiles(RDom &r, const Expr &tile, const Expr &block) const {
  Range range = seenByBlock(block);
  if (range.first.defined())
    r.where(tile * keyTile + (keyTile - 1) >= range.first);
  if (range.last.defined())
    r.where(tile * keyTile <= range.last);
}
// Keys that some query of a block sees.
AttentionPipe::Range AttentionPipe::seenByBlock(const Expr &block) const {
  return {seenFrom(position0 + queryRow(block, 0)).first,
          seenFrom(position0 + queryRow(block, queryBlock - 1)).last};
}

//===-- The algorithm -------------------------------------------------------//

// `of` counts heads as h does, of which there are `heads` in each sequence.
TurnedHeads AttentionPipe::turn(const ImageParam &input, int64_t offset, int heads,
                                const Expr &firstRow, const char *name) const {
  auto source = [&](const Expr &column, const Expr &row, const Expr &of) {
    Expr own = device ? of % heads : of;
    return widened(input(int(offset) + own * int(s.headDim) + column, firstRow + row));
  };
  Turning turning{s.headDim, s.angles(), s.start, s.interleaved};
  return TurnedHeads(turning, source, at(Operand::rotation), firstRow, names, name);
}

// What a lane's scores are multiplied by. They are in powers of two, so that their
// exponential is quick.
Expr AttentionPipe::factorOf(const Expr &lane) {
  Expr factor = float(s.softcap > 0 || isLinear() ? s.scale : s.scale * log2e);
  auto times = [&](const Expr &by) {
    factor = oneRounding(Internal::Call::strict_mul, factor, by);
  };
  if (s.has(Operand::headScale))
    times(at(Operand::headScale)(s[Operand::headScale]->columns == 1 ? Expr(0) : head));
  if (!s.has(Operand::queryScale))
    return factor;
  times(at(Operand::queryScale)(0, queryRow(b, q)));
  factors = make("factors");
  factors(q, b, h) = factor;
  return factors(lane, b, h);
}

// [lane, d, block, head]: queries in lanes, what scales scores multiplied in.
//
// Heads are turned here, not in the projection's epilogue. Measured for 32 heads of
// 128 (zen4, one thread; a kernel.rotate of its own bounds an epilogue from above):
// at 1, 128 and 512 tokens 3.4, 126 and 510 us here, 0.5, 75 and 990 us there; the
// layer's matmuls take some 20, 450 and 1800 ms. So one launch and one buffer less
// decide.
void AttentionPipe::transposeQueries() {
  queriesAcross = make("QT");
  Expr lane = u * quad + q;
  Expr from =
      widened(query(int(s.queryOffset) + head * int(s.headDim) + d, queryRow(b, lane)));
  if (s.has(Operand::rotation)) {
    turnedQuery = turn(query, s.queryOffset, int(s.heads), 0, "turned_query");
    turnedKey = turn(key, s.keyOffset, int(s.kvHeads),
                     device ? h / int(s.kvHeads) * keys : keyRow, "turned_key");
    from = turnedQuery.at(d, queryRow(b, lane), h);
  }
  // Four queries side by side first: a transposition in two steps of few shuffles.
  quads = make("quads");
  quads(q, d, u, b, h) = from * factorOf(lane);
  queriesAcross(q, d, b, h) = quads(q % quad, d, q / quad, b, h);
}

// What depends on the distance of a key from a query, as a strip of it: lanes
// read it side by side.
Expr AttentionPipe::byDistance(const Expr &kv, const std::function<Expr(Expr)> &value) {
  strip = make("strip");
  strip(u, b, h) = value(keys - u - (position0 + row0 + b * queryBlock));
  return strip(q - kv + keys, b, h);
}

// All that is added to a score, times log2 e.
Expr AttentionPipe::biasesOf(const Expr &kv) {
  Expr sum = 0.0f, scaled = 0.0f;
  Expr row = queryRow(b, q), distance = kv - (position0 + row);
  if (s.has(Operand::keyBias))
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
      return at(Operand::bias)(clamp(far, -most, most) + most, head) * float(log2e);
    });
  }
  if (!s.slopes.empty())
    scaled += chosen(s.slopes, head, log2e) * cast<float>(distance);
  return scaled;
}

Expr AttentionPipe::keyOf(const Expr &tile) const {
  return min(tile * keyTile + ki, keys - 1);
}

// [lane, key of tile, key tile, block, head]. The last tile repeats the last
// key; what that gives is not read.
void AttentionPipe::score() {
  dots = make("dots");
  RDom rd(0, int(s.headDim), names("rd"));
  depth = rd;
  Expr kv = keyOf(ko);
  Expr keyAt = s.has(Operand::rotation)
                   ? turnedKey.at(rd, kv, kvHead)
                   : widened(key(int(s.keyOffset) + ownKvHead() * int(s.headDim) + rd,
                                 keyRow + kv));
  const bool biasFirst = s.softcap <= 0 && !isLinear();
  dots(q, ki, ko, b, h) = biasFirst ? biasesOf(kv) : Expr(0.0f);
  dots(q, ki, ko, b, h) += queriesAcross(q, rd, b, h) * keyAt;
  keepScores([&](const Expr &dot, const Expr &) { return dot; });
}

// Written by the tiles that are seen; what the others hold is not read.
void AttentionPipe::keepScores(const std::function<Expr(Expr, Expr)> &biased) {
  RDom r = tilesOf("score_tile", b);
  scoreTile = r;
  Expr kv = keyOf(ko);
  Expr score = chosenScore(biased(dots(q, ki, ko, b, h), kv), kv, s.softcap > 0);
  if (!isLinear()) // what repeats the last key is hidden
    score = select(likely(ko * keyTile + ki < keys), score, hidden);
  tileScores = make("tile_scores");
  tileScores(q, ki, ko, b, h) = score;
  scores = make("scores");
  scores(q, ki, ko, b, h) = undef<float>();
  scores(q, ki, r, b, h) = withSummary(
      ki, keyTile, [&](const Expr &i) { return tileScores(q, i, r, b, h); },
      [](const Expr &x, const Expr &y) { return max(x, y); });
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
// The rows of a tile and, after them, what they combine to: so nobody reads all of
// them again for it.
Expr AttentionPipe::withSummary(const Expr &row, int rows,
                                const std::function<Expr(Expr)> &at,
                                const Combine &combine) {
  return select(row < rows, at(min(row, rows - 1)), combined(rows, at, combine));
}

// A dot product's score or, where the key is hidden, what counts as none.
Expr AttentionPipe::chosenScore(Expr score, const Expr &kv, bool bias) {
  if (bias)
    score = tanhOf(score * float(1 / s.softcap)) * float(s.softcap * log2e) +
            biasesOf(kv);
  if (isLinear()) // a key after the query is hidden
    score *= byDistance(kv, [&](const Expr &far) {
      return exp2Of(decay(head) * float(log2e) * cast<float>(min(far, 0)));
    });
  Expr seen = isSeen(b, q, kv);
  if (Internal::is_const_one(seen))
    return score;
  return select(seen, score, isLinear() ? 0.0f : hidden);
}

Expr AttentionPipe::atKey(Func &f, const Expr &lane, const Expr &r, const Expr &block) const {
  return f(lane, r % keyTile, r / keyTile, block, h);
}

// Where maxima start: above every hidden score.
Expr AttentionPipe::sinkScore() const {
  if (!s.has(Operand::sink))
    return lowest;
  return max(at(Operand::sink)(head) * float(log2e), lowest);
}
void AttentionPipe::findTop() {
  topTile = combineTiles(top, tops, scores, "top", sinkScore(), lowest,
                         [](const Expr &x, const Expr &y) { return max(x, y); });
}

// f(q, b, h): `start` and what all tiles of `of` combine to. A device's work-items
// first combine tiles of their own, from `none` on, in `parts`.
RVar AttentionPipe::combineTiles(Func &f, Func &parts, Func &of, const char *name,
                                 const Expr &start, const Expr &none,
                                 const Combine &combine) {
  const std::string tile = name + std::string("_tile");
  f = make(name);
  if (!device) {
    RDom r = tilesOf(tile.c_str(), b);
    f(q, b, h) = start;
    f(q, b, h) = combine(f(q, b, h), of(q, keyTile, r, b, h));
    return r;
  }
  parts = make((name + std::string("_parts")).c_str());
  RDom r = tilesOfItem(tile.c_str());
  parts(q, u, b, h) = none;
  parts(q, u, b, h) =
      combine(parts(q, u, b, h), of(q, keyTile, r * items + u, b, h));
  f(q, b, h) = combine(
      start, combined(items, [&](const Expr &i) { return parts(q, i, b, h); }, combine));
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
  Expr sink = sinkScore();
  RDom r = tilesOf("weight_tile", b);
  weightTile = r;
  auto add = [](const Expr &x, const Expr &y) {
    return oneRounding(Internal::Call::strict_add, x, y);
  };
  tileWeights = make("tile_weights");
  tileWeights(q, ki, ko, b, h) = exp2Weight(scores(q, ki, ko, b, h) - top(q, b, h));
  weights(q, ki, ko, b, h) = undef<float>();
  weights(q, ki, r, b, h) = withSummary(
      ki, keyTile, [&](const Expr &i) { return tileWeights(q, i, r, b, h); }, add);
  Expr own = s.has(Operand::sink) ? exp2Weight(sink - top(q, b, h)) : 0.0f;
  sumTile = combineTiles(sum, sums, weights, "sum", own, 0.0f, add);
  invert();
}
void AttentionPipe::invert() {
  inverse = make("inverse");
  inverse(q, b, h) = select(sum(q, b, h) > 0.0f, 1.0f / sum(q, b, h), 0.0f);
}

// [column, query of tile, tile, head]: the tile's own dimensions, as in matmul
void AttentionPipe::mix() {
  mixed = make("mixed");
  mixed(d, q, t, h) = 0.0f;
  const bool hides = s.hidesPairs() || s.has(Operand::keyBias);
  const bool looks = hides && !device; // a device is careful with every weight
  if (looks)
    lookForNan();
  for (bool careful : {false, true}) {
    if (careful ? !hides : hides && !looks)
      continue;
    Range from = seenByTile(0), to = seenByTile(mixedTile.rows - 1);
    RDom r = keysOf(careful ? "r3" : "r2", {from.first, to.last});
    if (looks)
      r.where(r < (careful ? keys - soundKeys(kvHead) : soundKeys(kvHead)));
    const int tiles = queryBlock / mixedTile.rows;
    Expr weight = atKey(weights, (t % tiles) * mixedTile.rows + q, r, t / tiles);
    Expr x = valueAt(d, r, ownKvHead());
    mixed(d, q, t, h) += weight * (careful ? select(weight != 0.0f, x, 0.0f) : x);
    mixedKeys.push_back(r);
  }
}
AttentionPipe::Range AttentionPipe::seenByTile(int lane) const {
  return seenFrom(position0 + min(row0 + t * mixedTile.rows + lane, rowLast));
}
Expr AttentionPipe::valueAt(const Expr &column, const Expr &kv, const Expr &head) const {
  return widened(value(int(s.valueOffset) + head * int(s.valueDim) + column, keyRow + kv));
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
  Expr bits = reinterpret<int32_t>(valueAt(d, r, h)) & 0x7fffffff;
  worst(d, h) = 0;
  worst(d, h) = max(worst(d, h), bits);
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
