// A row's scores lie in four lanes. Must not know where products come from.
#include "compiler/nvvm/AttentionSoftmax.h"

#include <limits>

namespace mille::nvvm {

Softmax::Softmax(AttentionKernel &kernel, Reg own, const Fragments &fragments)
    : k(kernel), b(kernel.b), own(own), fragments(fragments),
      factor(kernel.plan.changesScores() ? 1 : kernel.s.scale * log2e) {}

static Reg combined(Regs values, llvm::function_ref<Reg(Reg, Reg)> combine) {
  for (; values.size() > 1; values.resize((values.size() + 1) / 2))
    for (size_t i = 0; i < values.size() / 2; ++i)
      values[i] = combine(values[i], values[values.size() - 1 - i]);
  return values.front();
}

SoftmaxRows Softmax::begin(const QueryTile &tile) {
  Reg top = b.real(-std::numeric_limits<double>::infinity());
  Reg sum = b.real(0);
  if (k.has(AttentionOperand::sink)) {
    // One more key, which one of the four threads of a row counts.
    top = k.sinkOf(tile) * (1 / factor);
    sum = b.select(eq(fragments.column, 0), b.real(1), sum);
  }
  return {{top, top}, {sum, sum}};
}

Regs Softmax::of(const QueryTile &tile, Reg block, const Regs &mask,
                 const Regs &products, SoftmaxRows &rows) {
  Reg query = tile.query + own * int(groupQueries);
  Regs seen = mask.empty() ? Regs() : k.seenBits(mask, block);
  Regs scores = k.plan.changesScores()
                    ? k.changed(tile, fragments, query, block, products)
                    : products;
  scores = k.masked(tile, fragments, query, block, seen, scores);
  Regs before(2);
  Reg none = b.real(-std::numeric_limits<double>::infinity());
  for (unsigned h = 0; h < 2; ++h) {
    Regs own;
    for (size_t i = 2 * h; i < scores.size(); i += 4)
      own.insert(own.end(), {scores[i], scores[i + 1]});
    Reg top =
        b.maxnum(rows.top[h],
                 combined(own, [&](Reg x, Reg y) { return b.maxnum(x, y); }));
    for (unsigned distance : {1, 2})
      top = b.maxnum(top, b.shuffleXor(top, distance));
    // A row that has seen no key yet.
    Reg shift = b.select(eq(top, none), b.real(0), top * -factor);
    before[h] = b.exp2(b.fma(rows.top[h], factor, shift));
    Regs weights;
    for (size_t i = 2 * h; i < scores.size(); i += 4)
      for (size_t e = i; e < i + 2; ++e) {
        scores[e] = b.exp2(b.fma(scores[e], factor, shift));
        weights.push_back(scores[e]);
      }
    Reg sum = combined(weights, [](Reg x, Reg y) { return x + y; });
    rows.sum[h] = b.fma(rows.sum[h], before[h], sum);
    rows.top[h] = top;
  }
  scores.insert(scores.end(), before.begin(), before.end());
  return scores;
}

Regs Softmax::inverse(const SoftmaxRows &rows) {
  Regs inverse;
  for (Reg sum : rows.sum) {
    for (unsigned distance : {1, 2})
      sum = sum + b.shuffleXor(sum, distance);
    // A row that sees no key is 0.
    inverse.push_back(b.select(gt(sum, 0.0), b.reciprocal(sum), b.real(0)));
  }
  return inverse;
}

} // namespace mille::nvvm
