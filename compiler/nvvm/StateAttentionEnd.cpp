// The end of an attention to states: rows of a tile, scores that are more than
// products, stretches added in order, the out. Must not multiply.
#include "compiler/nvvm/StateAttentionKernel.h"

#include <limits>

namespace mille::nvvm {

using Optional = AttentionOperand;

StateRow stateRow(StateAttention &k, const StateTile &tile, Reg row) {
  StateRow at;
  Reg query = row / k.plan.heads;
  at.query = tile.query + query;
  at.head = tile.head + row % k.plan.heads;
  at.isReal = lt(query, k.plan.queries) & lt(at.query, k.queries);
  if (k.plan.headTiles > 1)
    at.isReal = at.isReal & lt(at.head, tile.headEnd);
  return at;
}

//===-- Scores ------------------------------------------------------------===//

namespace {

// The parts of a score that its row gives.
struct RowTerms {
  Reg factor;
  Reg slope, first; // of ALiBi; `first`: its term at the thread's first key
};

RowTerms termsOf(StateAttention &k, const StateTile &tile, const StateRow &row,
                 Reg key) {
  Builder &b = k.b;
  const AttentionSpec &s = k.s;
  RowTerms terms;
  terms.factor = b.real(s.scale * log2e);
  Reg head = b.minSigned(row.head, s.heads - 1);
  if (s.has(Optional::headScale)) {
    const bool one = s[Optional::headScale]->columns == 1;
    Reg scales = k.argument(Optional::headScale);
    terms.factor =
        terms.factor *
        b.load(one ? scales : b.at(scales, b.widen(head) * 4), b.f32());
  }
  if (s.has(Optional::queryScale)) {
    Reg query =
        tile.sequence * k.queries + b.minSigned(row.query, k.queries - 1);
    Reg place = b.widen(query) * (4 * s[Optional::queryScale]->rowStride);
    terms.factor =
        terms.factor *
        b.load(b.at(k.argument(Optional::queryScale), place), b.f32());
  }
  if (s.slopes.empty())
    return terms;
  terms.slope = b.real(s.slopes.back() * log2e);
  for (size_t h = 0; h + 1 < s.slopes.size(); ++h)
    terms.slope =
        b.select(eq(head, int(h)), b.real(s.slopes[h] * log2e), terms.slope);
  terms.first = b.toFloat(key - (tile.first + row.query)) * terms.slope;
  return terms;
}

// cap tanh(score / cap) by exp2, as in AttentionScores.cpp.
Reg capped(Builder &b, Reg score, double cap) {
  Reg power = b.exp2(score * (2 / cap));
  Reg share = b.reciprocal(power + 1.0);
  return b.fma(share, -2 * cap * log2e, b.real(cap * log2e));
}

} // namespace

Regs changedScores(StateAttention &k, const StateTile &tile,
                   const Fragments &fragments, Reg block,
                   const Regs &products) {
  Builder &b = k.b;
  Reg key = block * int(stateKeys) + fragments.column;
  std::vector<RowTerms> terms;
  for (unsigned h = 0; h < 2; ++h)
    terms.push_back(
        termsOf(k, tile, stateRow(k, tile, fragments.row + 8 * h), key));
  Regs out;
  for (unsigned i = 0; i < products.size(); ++i) {
    const RowTerms &of = terms[i / 2 % 2];
    Reg score = products[i] * of.factor;
    if (k.s.softcap > 0)
      score = capped(b, score, k.s.softcap);
    if (of.slope)
      score = b.fma(of.slope, double(8 * (i / 4) + i % 2), score + of.first);
    out.push_back(score);
  }
  return out;
}

//===-- Sums --------------------------------------------------------------===//

// Where one of both has seen no key, the other stays as it is, bit for bit.
void addStretch(Builder &b, double factor, RowSums &all, Regs &values,
                const RowSums &more, const Regs &moreValues) {
  Reg top = b.maxnum(all.top, more.top);
  Reg none = b.real(-std::numeric_limits<double>::infinity());
  Reg base = b.select(eq(top, none), b.real(0), top);
  Reg before = b.exp2((all.top - base) * factor);
  Reg own = b.exp2((more.top - base) * factor);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = b.fma(values[i], before, moreValues[i] * own);
  all = {top, b.fma(all.sum, before, more.sum * own)};
}

Reg endFactor(StateAttention &k, double factor, const RowSums &sums, Reg head) {
  Builder &b = k.b;
  // A row that sees no key is 0.
  auto inverse = [&](Reg sum) {
    return b.select(gt(sum, 0.0), b.reciprocal(sum), b.real(0));
  };
  if (!k.has(Optional::sink))
    return inverse(sums.sum);
  Reg place = b.widen(b.minSigned(head, k.s.heads - 1)) * 4;
  Reg sink = b.load(b.at(k.argument(Optional::sink), place), b.f32()) * log2e;
  Reg top = sums.top * factor, most = b.maxnum(top, sink);
  Reg share = b.exp2(top - most);
  return share * inverse(b.fma(sums.sum, share, b.exp2(sink - most)));
}

void storeOut(StateAttention &k, const StateTile &tile, const StateRow &row,
              Reg column, Reg low, Reg high) {
  Builder &b = k.b;
  Reg line = b.widen(tile.sequence * k.queries + row.query) *
             (2 * k.plan.spec.out.rowStride);
  Reg place = (row.head * int(k.s.valueDim) + column) * 2;
  b.store(b.packHalf(low, high),
          b.at(b.at(b.argument(k.numbers.out), line), place));
}

//===-- Stretches of a tile from several blocks of threads ----------------===//

namespace {

// Where a row's sums of a stretch are: top, sum, values.
Reg partOf(StateAttention &k, const StateTile &tile, const StateRow &row,
           Reg split) {
  Builder &b = k.b;
  Reg number =
      (tile.sequence * k.queries + row.query) * int(k.s.heads) + row.head;
  Reg place =
      b.widen(number) * b.widen(b.argument(k.numbers.splits)) + b.widen(split);
  return b.at(b.argument(k.numbers.parts), place * (4 * k.plan.partFloats()));
}

void storePart(StateAttention &k, const StateTile &tile,
               const Fragments &fragments, const RowSums sums[2],
               const Regs &values) {
  Builder &b = k.b;
  for (unsigned h = 0; h < 2; ++h) {
    StateRow row = stateRow(k, tile, fragments.row + 8 * h);
    b.ifThen(row.isReal, [&] {
      Reg part = partOf(k, tile, row, tile.split);
      b.ifThen(eq(fragments.column, 0),
               [&] { b.store(b.vector({sums[h].top, sums[h].sum}), part, 8); });
      Reg own = b.at(part, fragments.column * 4 + 8);
      for (size_t i = 2 * h; i < values.size(); i += 4)
        b.store(b.vector({values[i], values[i + 1]}),
                b.at(own, int(8 * (i - 2 * h))), 8);
    });
  }
}

// Pairs of columns of the tile's rows, shared by 128 threads.
void addParts(StateAttention &k, const StateTile &tile, double factor,
              Reg thread) {
  Builder &b = k.b;
  const int pairs = int(k.s.valueDim / 2);
  const int items = int(k.plan.queries * k.plan.heads) * pairs;
  Reg none = b.real(-std::numeric_limits<double>::infinity()), zero = b.real(0);
  auto item = [&](Reg number) {
    StateRow row = stateRow(k, tile, number / pairs);
    b.ifThen(row.isReal, [&] {
      Reg column = number % pairs * 2;
      Regs sums = b.loop(
          {b.constant(0), none, zero, zero, zero},
          [&](const Regs &now) { return lt(now[0], tile.count); },
          [&](const Regs &now) {
            Reg part = partOf(k, tile, row, now[0]);
            Regs own = b.elements(b.load(part, b.vectorOf(2, b.f32()), 8));
            Regs more = b.elements(
                b.load(b.at(part, column * 4 + 8), b.vectorOf(2, b.f32()), 8));
            RowSums all{now[1], now[2]};
            Regs values{now[3], now[4]};
            addStretch(b, factor, all, values, {own[0], own[1]}, more);
            return Regs{now[0] + 1, all.top, all.sum, values[0], values[1]};
          });
      Reg by = endFactor(k, factor, {sums[1], sums[2]}, row.head);
      storeOut(k, tile, row, column, sums[3] * by, sums[4] * by);
    });
  };
  b.loop(
      {thread}, [&](const Regs &now) { return lt(now[0], items); },
      [&](const Regs &now) {
        item(now[0]);
        return Regs{now[0] + int(StatePlan::consumers)};
      });
}

} // namespace

void giveStretch(StateAttention &k, const StateTile &tile, double factor,
                 const Fragments &fragments, Reg thread, const RowSums sums[2],
                 const Regs &values) {
  Builder &b = k.b;
  storePart(k, tile, fragments, sums, values);
  b.syncNamed(1, StatePlan::consumers);
  Reg last = b.at(k.shared, k.plan.lastAt);
  b.ifThen(eq(thread, 0), [&] {
    Reg counter = b.at(b.argument(k.numbers.counters), tile.number * 4);
    b.fenceDevice(); // with what the barrier has brought
    Reg before = b.atomicAdd(counter, 1);
    b.fenceDevice();
    Reg isLast = eq(before, tile.count - 1);
    b.ifThen(isLast, [&] { b.store(b.constant(0), counter); });
    b.store(b.select(isLast, b.constant(1), b.constant(0)), last);
  });
  b.syncNamed(1, StatePlan::consumers);
  b.ifThen(ne(b.load(last, b.i32()), 0),
           [&] { addParts(k, tile, factor, thread); });
}

} // namespace mille::nvvm
