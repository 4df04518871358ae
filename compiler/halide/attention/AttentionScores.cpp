// The scores of attention: products of a key with the queries in the lanes,
// with biases, and a constant in the place of a hidden key's scores.
// Must not let a hidden key's score through.
#include "compiler/halide/Elements.h"
#include "compiler/halide/Functions.h"
#include "compiler/halide/OneRounding.h"
#include "compiler/halide/attention/AttentionPipe.h"

using namespace Halide;

namespace mille {
namespace {

using Operand = AttentionOperand;

// The entry of a head in a table that is known at compile time.
Expr chosen(const std::vector<double> &values, const Expr &index,
            double factor) {
  Expr value = float(values.back() * factor);
  for (int i = int(values.size()) - 2; i >= 0; --i)
    value = select(index == i, float(values[i] * factor), value);
  return value;
}

} // namespace

// A function of the distance of a key from a query, computed once as a strip of
// distances: neighbouring lanes read neighbouring entries.
Expr AttentionPipe::byDistance(const Expr &kv,
                               const std::function<Expr(Expr)> &value) {
  strip = make("strip");
  Expr end = stretched ? keyAt(e + 1) : keys;
  strip(u, e, b, h) = value(end - u - (position0 + row0 + b * queryBlock));
  return strip(q - kv + end, e, b, h);
}

// The sum of all biases of a score, times log2 e.
Expr AttentionPipe::biasesOf(const Expr &kv) {
  Expr sum = 0.0f, scaled = 0.0f;
  Expr row = queryRow(b, q), distance = kv - (position0 + row);
  if (s.has(Operand::keyHeadBias))
    sum +=
        at(Operand::keyHeadBias)(head / int(s.headsOfKeyBias()), keyRow + kv);
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
// The same where memory follows the last key, as it does in a state's panels.
Expr AttentionPipe::placeOf(const Expr &tile) const {
  return s.panels && !widens(s.key) ? keyAt(e) + tile * keyTile + ki
                                    : keyOf(tile);
}

// Whether bf16 or f16 is widened to f32 once, before all query blocks read it:
// without products of such pairs each block would spend three instructions to
// widen what two multiply-adds read.
bool AttentionPipe::widens(const BufferSpec &of) const {
  const bool narrow = isBf16(of.element) || of.element == Element::f16;
  return !device && !paired && !integral && !few && narrow;
}
Expr AttentionPipe::keyFactor(const Expr &column, const Expr &kv) {
  if (s.has(Operand::rotation))
    return turnedKey.at(column, kv, kvHead);
  auto from = [&](const Expr &column, const Expr &kv, const Expr &head) {
    return widened(keyElement(column, kv, head));
  };
  if (!widens(s.key))
    return from(column, kv, kvHeadInSequence());
  widenedKey = make("widened_key");
  widenedKey(d, u, h) = from(d, u, h);
  return widenedKey(column, inTask(kv), kvHead);
}
// Only keys of tiles that the task's rows see are in memory. A promise of this
// would not do: Halide computes more tiles than are read, since it takes bounds
// of `firstKey` for it where it asks whether a tile is needed.
Expr AttentionPipe::inTask(const Expr &kv) const {
  Expr from = seenFrom(position0 + row0).first,
       to = seenFrom(position0 + rowLast).last;
  const int others = keyTile - 1;
  Expr low = from.defined() ? clamp(from - others, 0, keys - 1) : Expr(0);
  Expr high = to.defined() ? clamp(to + others, low, keys - 1) : keys - 1;
  return clamp(kv, low, high);
}

// [lane, key of tile, key tile, stretch, block, head]. The last tile repeats
// the last key; those scores are not read.
void AttentionPipe::score() {
  dots = make("dots");
  const int size = int(s.headDim);
  const int each = turnsKeys() ? V : widensWords() ? 2 : 1;
  RDom rd = each > 1 ? RDom(0, each, 0, size / each, names("rd"))
                     : RDom(0, size, names("rd"));
  Expr column = rd.x, kv = keyOf(ko);
  depth = rd.x;
  if (each > 1) {
    column = rd.y * each + rd.x;
    depthPart = rd.x;
    depth = rd.y;
  }
  Expr factor =
      turnsKeys() ? turnedKeyAt(column) : keyFactor(column, placeOf(ko));
  const bool biasFirst = s.softcap <= 0 && !isLinear();
  dots(q, ki, ko, e, b, h) = biasFirst ? biasesOf(kv) : Expr(0.0f);
  dots(q, ki, ko, e, b, h) += queriesAcross(q, column, b, h) * factor;
  keepScores(s.softcap > 0 ? capped(dotHere(), biasesOf(kv)) : dotHere());
}

// Stores the scores of tiles that are seen; the scores of other tiles are never
// read.
void AttentionPipe::keepScores(Expr score) {
  RDom r = tilesOf("score_tile", b);
  scoreTile = r;
  score = chosenScore(score, placeOf(ko));
  if (!isLinear() && !keyTerm.defined()) // repeats of the last key are hidden
    score = select(likely(keyAt(e) + ko * keyTile + ki < keys), score, hidden);
  tileScores = make("tile_scores");
  tileScores(q, ki, ko, e, b, h) = score;
  scores = make("scores");
  scores(q, ki, ko, e, b, h) = undef<float>();
  if (few) {
    scores(q, ki, r, e, b, h) = tileScores(q, ki, r, e, b, h);
    return;
  }
  scores(q, ki, r, e, b, h) = withSummary(
      ki, keyTile, [&](const Expr &i) { return tileScores(q, i, r, e, b, h); },
      [&](const Expr &x, const Expr &y) { return larger(x, y); });
}

// A maximum that Halide does not reorder: it turns a tree of its own maxima
// into a chain, which for the 32 keys of a tile register takes longer than all
// other work on their scores.
Expr AttentionPipe::larger(const Expr &x, const Expr &y) const {
  return inTiles ? select(oneRounding(Internal::Call::strict_lt, x, y), y, x)
                 : max(x, y);
}

// The rows of a tile combined as a tree, which is shorter than a chain.
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
// The rows of a tile and, after them, their combination, so that no later loop
// reads all rows again for it.
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

// A score, or the constant for a hidden key.
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

} // namespace mille
