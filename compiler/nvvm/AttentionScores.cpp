// Scores from products, in powers of two: the scale, the cap and what is added
// by key, by distance and by pair. Must not hide keys.
#include "compiler/nvvm/AttentionKernel.h"

#include <cmath>

namespace mille::nvvm {

using Optional = AttentionOperand;

namespace {

// The parts of a score that its row and its column give, found before the
// registers are visited.
class Scores {
public:
  Scores(AttentionKernel &kernel, const QueryTile &tile,
         const Fragments &fragments, Reg query, Reg block)
      : k(kernel), b(kernel.b), s(kernel.s), tile(tile),
        column(block * kernel.plan.tile.keys + fragments.column) {
    for (unsigned h = 0; h < 2; ++h)
      rows.push_back(query + fragments.row + 8 * h);
    findFactors();
    if (!s.slopes.empty())
      findSlopes();
    if (k.has(Optional::bias) && s.biasByDistance)
      readDistances();
  }

  // The score of key `place` of the block, counted from this thread's first
  // column, in row h.
  Reg of(Reg product, unsigned place, unsigned h) {
    Reg score = product * factors[h];
    if (s.softcap > 0)
      score = capped(score);
    if (!s.slopes.empty())
      score = b.fma(slope, double(place), score + slopes[h]);
    if (k.has(Optional::keyHeadBias))
      score = b.fma(keyBias(place), log2e, score);
    if (k.has(Optional::bias))
      score = b.fma(s.biasByDistance ? byDistance(place, h) : byPair(place, h),
                    log2e, score);
    return score;
  }

private:
  Reg number(AttentionOperand operand, Reg row, int64_t stride,
             Operand column) {
    Reg place = b.widenSigned(row) * stride + column;
    return b.load(b.at(k.argument(operand), place * 4), b.f32());
  }
  Reg keyAt(unsigned place) { return b.minSigned(column + place, k.keys - 1); }
  Reg queryAt(unsigned h) { return b.minSigned(rows[h], k.queries - 1); }

  void findFactors() {
    Reg head = b.widen(tile.head), common = b.real(s.scale * log2e);
    if (k.has(Optional::headScale)) {
      const bool one = s[Optional::headScale]->columns == 1;
      Reg scales = k.argument(Optional::headScale);
      common = common * b.load(one ? scales : b.at(scales, head * 4), b.f32());
    }
    for (unsigned h = 0; h < 2; ++h)
      factors.push_back(common);
    if (k.has(Optional::queryScale))
      for (unsigned h = 0; h < 2; ++h)
        factors[h] = common * number(Optional::queryScale,
                                     tile.sequence * k.queries + queryAt(h),
                                     s[Optional::queryScale]->rowStride,
                                     b.constant(b.i64(), 0));
  }

  // slope (key - query) = slope (first key - query) + slope place.
  void findSlopes() {
    slope = b.real(s.slopes.back() * log2e);
    for (size_t head = 0; head + 1 < s.slopes.size(); ++head)
      slope = b.select(eq(tile.head, int(head)), b.real(s.slopes[head] * log2e),
                       slope);
    for (unsigned h = 0; h < 2; ++h)
      slopes.push_back(b.toFloat(column - k.positionOf(rows[h])) * slope);
  }

  // cap tanh(score / cap) by exp2: the unit for tanh errs by 2^-11 of it, with
  // a cap of 50 a percent of a weight.
  Reg capped(Reg score) {
    Reg power = b.exp2(score * (2 / s.softcap));
    Reg share = b.reciprocal(power + 1.0);
    return b.fma(share, -2 * s.softcap * log2e, b.real(s.softcap * log2e));
  }

  Reg keyBias(unsigned place) {
    if (keyBiases.size() <= place)
      keyBiases.resize(place + 1);
    if (!keyBiases[place]) {
      Reg head = b.widen(tile.head);
      if (const int64_t share = s.headsOfKeyBias(); share != 1)
        head = head / share;
      keyBiases[place] =
          number(Optional::keyHeadBias, tile.firstKey + keyAt(place),
                 s[Optional::keyHeadBias]->rowStride, head);
    }
    return keyBiases[place];
  }

  // Row h = 1 is 8 rows below row 0, so that its column 8 j has the distance
  // of the other's column 8 (j - 1): one read serves both.
  void readDistances() {
    const int64_t columns = s[Optional::bias]->columns, most = columns / 2;
    Reg first =
        b.at(k.argument(Optional::bias), b.widen(tile.head) * (4 * columns));
    Reg base = column - k.positionOf(rows[0]);
    const unsigned size = k.plan.tile.keys;
    for (int j = -1; j < int(size / 8); ++j)
      for (int e = 0; e < 2; ++e) {
        Reg far = b.minSigned(b.maxSigned(base + (8 * j + e), -most), most);
        distances.push_back(b.load(b.at(first, (far + most) * 4), b.f32()));
      }
  }
  Reg byDistance(unsigned place, unsigned h) {
    return distances[2 * (place / 8 + 1 - h) + place % 8];
  }
  Reg byPair(unsigned place, unsigned h) {
    return number(Optional::bias, tile.head, s[Optional::bias]->columns,
                  b.widen(queryAt(h) * k.keys + keyAt(place)));
  }

  AttentionKernel &k;
  Builder &b;
  const AttentionSpec &s;
  const QueryTile &tile;
  Reg column, slope;
  Regs rows, factors, slopes, keyBiases, distances;
};

} // namespace

Regs AttentionKernel::changed(const QueryTile &tile, const Fragments &fragments,
                              Reg query, Reg block, const Regs &products) {
  Scores scores(*this, tile, fragments, query, block);
  Regs out;
  for (unsigned i = 0; i < products.size(); ++i)
    out.push_back(scores.of(products[i], 8 * (i / 4) + i % 2, i / 2 % 2));
  return out;
}

Reg AttentionKernel::sinkOf(const QueryTile &tile) {
  Reg sink =
      b.load(b.at(argument(Optional::sink), b.widen(tile.head) * 4), b.f32());
  return sink * log2e;
}

} // namespace mille::nvvm
