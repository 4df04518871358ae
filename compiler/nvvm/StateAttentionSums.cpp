// The consumers of an attention to states: the products of a tile's 64 rows,
// and the softmax of a stretch block by block. Several blocks of threads share
// a unit, so a group need not overlap its own products with its softmax.
// Must not add stretches.
#include "compiler/nvvm/StateAttentionKernel.h"

#include <limits>

namespace mille::nvvm {

using Optional = AttentionOperand;

namespace {

Reg combined(Regs values, llvm::function_ref<Reg(Reg, Reg)> combine) {
  for (; values.size() > 1; values.resize((values.size() + 1) / 2))
    for (size_t i = 0; i < values.size() / 2; ++i)
      values[i] = combine(values[i], values[values.size() - 1 - i]);
  return values.front();
}

class Consumer {
public:
  Consumer(StateAttention &kernel, const StateTile &tile)
      : k(kernel), b(kernel.b), plan(kernel.plan), s(kernel.s), tile(tile),
        thread(kernel.thread), fragments(kernel.b, thread),
        factor(plan.changesScores() ? 1 : s.scale * log2e),
        none(b.real(-std::numeric_limits<double>::infinity())) {
    for (unsigned h = 0; h < 2; ++h)
      rows.push_back(stateRow(k, tile, fragments.row + 8 * h));
  }

  void run();

private:
  unsigned outs() const { return unsigned(s.valueDim / 2); }
  Reg positionOf(unsigned h) { return tile.first + rows[h].query; }
  Regs issueScores(Reg stage);
  Regs addValues(Reg stage, const Regs &weights, const Regs &out);
  // A word of lanes for 32 keys each: whether the sequence has the key, and the
  // mask shows it.
  Regs seenBits(Reg block);
  Regs masked(Reg block, const Regs &seen, const Regs &scores);
  Regs maskedRows(Reg block, const Regs &seen, const Regs &scores);
  Reg isWhole(const Regs &seen) { return eq(seen[0] & seen[1], -1); }
  // Zeros in place of the values of keys that nobody sees: 0 times what is not
  // a number would not be 0.
  void clean(Reg stage, const Regs &seen);
  // Weights in place of scores, and the rows with them; gives the factors of
  // what was summed before.
  Regs weigh(Regs &scores, RowSums sums[2]);
  Regs block(Reg number, const Regs &now);
  void addSums(RowSums all[2], Regs &values, const RowSums more[2],
               const Regs &moreValues);
  void giveOut(const RowSums sums[2], const Regs &out);

  StateAttention &k;
  Builder &b;
  const StatePlan &plan;
  const AttentionSpec &s;
  const StateTile &tile;
  Reg thread;
  Fragments fragments;
  const double factor; // of scores, to powers of two
  Reg none;
  std::vector<StateRow> rows;
};

//===-- Products ----------------------------------------------------------===//

Regs Consumer::issueScores(Reg stage) {
  Reg queries = descriptor(b.addressOf(k.shared));
  Reg keys = descriptor(b.addressOf(k.keyRing.address(stage)));
  Reg sums = b.undefined(b.accumulatorType(stateKeys));
  b.fenceProducts();
  for (unsigned i = 0; i * productDepth < s.headDim; ++i) {
    const unsigned panel = i / 4, bytes = i % 4 * 2 * productDepth;
    sums = b.multiply(
        stateKeys, queries + descriptorStep(panel * plan.queryPanel + bytes),
        keys + descriptorStep(panel * plan.keyPanel + bytes), sums, i == 0);
  }
  b.commitProducts();
  b.waitProducts(0);
  return b.afterProducts(b.unpack(sums));
}

// The accumulators of two blocks of 8 columns are, two to a word, operand A of
// one step.
Regs Consumer::addValues(Reg stage, const Regs &weights, const Regs &out) {
  Reg values =
      descriptor(b.addressOf(k.valueRing.address(stage)), plan.keyPanel);
  Regs words;
  for (unsigned i = 0; i < stateKeys / 2; i += 2)
    words.push_back(b.packHalf(weights[i], weights[i + 1]));
  const size_t count = words.size();
  words.insert(words.end(), out.begin(), out.end());
  words = b.beforeProducts(words);
  Regs sums(words.begin() + count, words.end());
  b.fenceProducts();
  for (unsigned i = 0; i * productDepth < stateKeys; ++i)
    sums = b.multiplyRegisters(
        unsigned(s.valueDim), llvm::ArrayRef(words).slice(4 * i, 4),
        values + descriptorStep(i * productDepth * lineBytes), sums);
  b.commitProducts();
  b.waitProducts(0);
  return b.afterProducts(sums);
}

//===-- Which keys --------------------------------------------------------===//

Regs Consumer::seenBits(Reg block) {
  Regs bits;
  Reg lane = thread % 32;
  for (unsigned w = 0; w < stateKeys / 32; ++w) {
    Reg key = block * int(stateKeys) + (lane + 32 * w);
    Reg seen = lt(key, tile.keys);
    if (s.has(Optional::keyMask)) {
      Reg row = tile.sequence * k.rows + b.minSigned(key, k.rows - 1);
      Reg shown = b.load(b.at(k.argument(Optional::keyMask), b.widen(row) * 4),
                         b.i32());
      seen = seen & ne(shown, 0);
    }
    bits.push_back(b.ballot(seen));
  }
  return bits;
}

// Most blocks need no mask: a branch that all threads take alike.
Regs Consumer::masked(Reg block, const Regs &seen, const Regs &scores) {
  Reg key = block * int(stateKeys), past = key + int(stateKeys);
  Reg needed = eq(isWhole(seen), 0);
  Reg position = tile.first + tile.query;
  if (Reg to = endSeen(s, position, tile.keys, Reg()))
    needed = needed | gt(past, to);
  if (Reg from = firstSeen(s, position + (plan.queries - 1)))
    needed = needed | lt(key, from);
  return b.ifValues(
      needed, [&] { return maskedRows(block, seen, scores); }, scores);
}

Regs Consumer::maskedRows(Reg block, const Regs &seen, const Regs &scores) {
  Reg key = block * int(stateKeys) + fragments.column; // of register 0
  Regs words; // bit 0 is this thread's column
  for (Reg word : seen)
    words.push_back(word >> fragments.column);
  Regs out = scores, from(2), to(2);
  for (unsigned h = 0; h < 2; ++h) {
    if ((to[h] = endSeen(s, positionOf(h), tile.keys, Reg())))
      to[h] = to[h] - key;
    if ((from[h] = firstSeen(s, positionOf(h))))
      from[h] = from[h] - key;
  }
  for (unsigned i = 0; i < out.size(); ++i) {
    const unsigned place = 8 * (i / 4) + i % 2, h = i / 2 % 2;
    Reg keep = ne(words[place / 32] & (int64_t(1) << place % 32), 0);
    if (to[h])
      keep = keep & gt(to[h], place);
    if (from[h])
      keep = keep & le(from[h], place);
    out[i] = b.select(keep, out[i], none);
  }
  return out;
}

void Consumer::clean(Reg stage, const Regs &seen) {
  b.ifThen(eq(isWhole(seen), 0), [&] {
    Reg line = thread / 2, half = thread % 2;
    Reg word = b.select(lt(line, 32), seen[0], seen[1]);
    b.ifThen(eq((word >> (line % 32)) & 1, 0), [&] {
      Reg zero = b.constant(0), to = k.valueRing.address(stage);
      Reg at = line * int(lineBytes) + half * int(lineBytes / 2);
      for (unsigned c = 0; c < plan.valuePanels; ++c)
        for (unsigned i = 0; i < lineBytes / 2; i += 16)
          b.store(b.vector({zero, zero, zero, zero}),
                  b.at(to, at + (c * plan.keyPanel + i)), 16);
    });
    b.fenceAsync();
    b.syncNamed(1, StatePlan::consumers);
  });
}

//===-- The softmax -------------------------------------------------------===//

// Where a row sees nothing of a block its sums stay as they are, bit for bit:
// the factor is exactly 1, and weights are 0.
Regs Consumer::weigh(Regs &scores, RowSums sums[2]) {
  Regs before;
  for (unsigned h = 0; h < 2; ++h) {
    Regs own;
    for (size_t i = 2 * h; i < scores.size(); i += 4)
      own.insert(own.end(), {scores[i], scores[i + 1]});
    Reg top =
        b.maxnum(sums[h].top,
                 combined(own, [&](Reg x, Reg y) { return b.maxnum(x, y); }));
    for (unsigned distance : {1, 2})
      top = b.maxnum(top, b.shuffleXor(top, distance));
    // A row that has seen no key yet.
    Reg base = b.select(eq(top, none), b.real(0), top);
    before.push_back(b.exp2((sums[h].top - base) * factor));
    Reg shift = base * -factor;
    Regs weights;
    for (size_t i = 2 * h; i < scores.size(); i += 4)
      for (size_t e = i; e < i + 2; ++e) {
        scores[e] = b.exp2(b.fma(scores[e], factor, shift));
        weights.push_back(scores[e]);
      }
    Reg sum = combined(weights, [](Reg x, Reg y) { return x + y; });
    sums[h] = {top, b.fma(sums[h].sum, before[h], sum)};
  }
  return before;
}

// now: both rings, rows, out.
Regs Consumer::block(Reg number, const Regs &now) {
  RingState keys{now[0], now[1]}, values{now[2], now[3]};
  RowSums sums[2] = {{now[4], now[5]}, {now[6], now[7]}};
  Regs out(now.begin() + 8, now.end());
  Regs seen = seenBits(number); // read early: memory is far
  k.keyRing.wait(keys);
  Regs scores = issueScores(keys.stage);
  k.keyRing.release(keys.stage, thread);
  if (plan.changesScores())
    scores = changedScores(k, tile, fragments, number, scores);
  scores = masked(number, seen, scores);
  Regs before = weigh(scores, sums);
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = out[i] * before[i / 2 % 2];
  k.valueRing.wait(values);
  clean(values.stage, seen);
  out = addValues(values.stage, scores, out);
  k.valueRing.release(values.stage, thread);
  Regs next;
  append(next, k.keyRing.next(keys));
  append(next, k.valueRing.next(values));
  for (const RowSums &of : sums)
    next.insert(next.end(), {of.top, of.sum});
  next.insert(next.end(), out.begin(), out.end());
  return next;
}

//===-- Stretches ---------------------------------------------------------===//

// A stretch behind those before it.
void Consumer::addSums(RowSums all[2], Regs &values, const RowSums more[2],
                       const Regs &moreValues) {
  for (unsigned h = 0; h < 2; ++h) {
    Regs half, halfMore;
    for (size_t i = 2 * h; i < values.size(); i += 4)
      for (size_t e = i; e < i + 2; ++e) {
        half.push_back(values[e]);
        halfMore.push_back(moreValues[e]);
      }
    addStretch(b, factor, all[h], half, more[h], halfMore);
    for (size_t i = 2 * h, at = 0; i < values.size(); i += 4)
      for (size_t e = i; e < i + 2; ++e)
        values[e] = half[at++];
  }
}

void Consumer::giveOut(const RowSums sums[2], const Regs &out) {
  for (unsigned h = 0; h < 2; ++h) {
    Reg by = endFactor(k, factor, sums[h], rows[h].head);
    b.ifThen(rows[h].isReal, [&] {
      for (size_t i = 2 * h; i < out.size(); i += 4)
        storeOut(k, tile, rows[h], fragments.column + int(2 * (i - 2 * h)),
                 out[i] * by, out[i + 1] * by);
    });
  }
}

// State of the loop over stretches: both rings, rows, sums of values.
void Consumer::run() {
  Reg zero = b.real(0);
  b.waitBarrier(k.queryFull(), b.constant(0));
  Regs rings, empty{none, zero, none, zero};
  append(rings, k.keyRing.consumer());
  append(rings, k.valueRing.consumer());
  empty.insert(empty.end(), outs(), zero);
  auto sumsOf = [](const Regs &all, size_t at, RowSums sums[2]) {
    for (unsigned h = 0; h < 2; ++h)
      sums[h] = {all[at + 2 * h], all[at + 2 * h + 1]};
    return Regs(all.begin() + at + 4, all.end());
  };
  auto stretchOf = [&](Reg stretch, const Regs &before) {
    Regs state(before.begin(), before.begin() + 4);
    state.insert(state.end(), empty.begin(), empty.end());
    state = k.eachBlock(tile, stretch, state, [&](Reg number, const Regs &now) {
      return block(number, now);
    });
    for (unsigned h = 0; h < 2; ++h)
      for (unsigned distance : {1, 2})
        state[5 + 2 * h] =
            state[5 + 2 * h] + b.shuffleXor(state[5 + 2 * h], distance);
    return state;
  };
  if (plan.few) {
    RowSums sums[2];
    Regs state = stretchOf(tile.low + tile.split, rings);
    Regs out = sumsOf(state, 4, sums);
    auto alone = [&] { // no other block's sums
      RowSums all[2] = {{none, zero}, {none, zero}};
      Regs values(outs(), zero);
      addSums(all, values, sums, out);
      giveOut(all, values);
    };
    b.ifElse(eq(tile.count, 1), alone, [&] {
      giveStretch(k, tile, factor, fragments, thread, sums, out);
    });
    return;
  }
  Regs state = rings;
  state.insert(state.end(), empty.begin(), empty.end());
  state = k.eachStretch(tile, state, [&](Reg stretch, const Regs &before) {
    RowSums all[2], sums[2];
    Regs values = sumsOf(before, 4, all);
    Regs own = stretchOf(stretch, before);
    Regs more = sumsOf(own, 4, sums);
    addSums(all, values, sums, more);
    Regs next(own.begin(), own.begin() + 4);
    for (const RowSums &of : all)
      next.insert(next.end(), {of.top, of.sum});
    next.insert(next.end(), values.begin(), values.end());
    return next;
  });
  RowSums sums[2];
  Regs out = sumsOf(state, 4, sums);
  giveOut(sums, out);
}

} // namespace

void StateAttention::consume(const StateTile &tile) {
  Consumer(*this, tile).run();
}

} // namespace mille::nvvm
