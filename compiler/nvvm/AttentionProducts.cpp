// The consumers of an attention kernel: the products of a group's 64 queries,
// the softmax between them, and the out. While the values of a block are
// multiplied, the group takes the softmax of the next block's scores.
// Must not copy into shared memory.
#include "compiler/nvvm/AttentionSoftmax.h"

namespace mille::nvvm {

namespace {

// A group at work on a tile.
class Consumer {
public:
  Consumer(AttentionKernel &kernel, Reg own, Reg thread)
      : k(kernel), b(kernel.b), plan(kernel.plan), own(own), thread(thread),
        fragments(kernel.b, thread), turns(kernel.b, plan.groupsInTurns(), own),
        softmax(kernel, own, fragments) {}

  void run() {
    turns.begin();
    Regs state;
    append(state, k.keyRing.consumer());
    append(state, k.valueRing.consumer());
    state.push_back(b.constant(0));
    k.eachTile(state, [&](const QueryTile &tile, const Regs &now) {
      return tileWith(tile, now);
    });
    turns.end();
    b.ifThen(isLead(), [&] { b.waitStores(0, /*read=*/false); });
  }

private:
  Reg isLead() { return eq(thread, 0); }
  void release(Reg barrier, llvm::StringRef harmless = "") {
    b.ifThen(isLead(), [&] {
      b.arrive(barrier);
      if (!harmless.empty())
        b.noteHarmless(harmless);
    });
  }

  // What is prepared has arrived before.
  void awaitKeys(const RingState &at) {
    if (plan.rotates())
      b.waitBarrier(k.keyReady(at.stage), at.parity);
    else
      k.keyRing.wait(at);
  }
  void awaitValues(const RingState &at) {
    if (plan.cleans())
      b.waitBarrier(k.valueReady(at.stage), at.parity);
    else
      k.valueRing.wait(at);
  }
  // A branch: without one ptxas moves the wait that follows over the softmax.
  void awaitKeysOf(const QueryTile &tile, Reg block, const RingState &at) {
    b.ifThen(ge(block, tile.low), [&] { awaitKeys(at); });
  }
  // After the scores of the tile's last block.
  void releaseQueries(const QueryTile &tile, Reg block) {
    if (plan.tile.persistent)
      b.ifThen(eq(block, tile.low),
               [&] { release(k.barrier(AttentionPlan::queryEmpty)); });
  }

  // Issues S = Q K^T.
  Reg issueScores(Reg stage);
  // Issues O += P V.
  Regs issueValues(Reg stage, const Regs &weights, Regs out);
  Regs weightsOf(const Regs &scores);
  Regs mask(const QueryTile &tile, Reg block) {
    return plan.cleans() ? k.readMask(tile, block) : Regs();
  }
  Regs tileWith(const QueryTile &tile, const Regs &now);
  Regs step(const QueryTile &tile, const Regs &now);
  void storeOut(const QueryTile &tile, const Regs &out,
                const SoftmaxRows &rows);

  AttentionKernel &k;
  Builder &b;
  const AttentionPlan &plan;
  Reg own, thread; // the number among the groups that multiply; in the group
  Fragments fragments;
  Turns turns;
  Softmax softmax;
};

Reg Consumer::issueScores(Reg stage) {
  Reg queries =
      descriptor(b.addressOf(k.shared) + own * int(groupQueries * lineBytes));
  Reg keys = descriptor(b.addressOf(k.keyRing.address(stage)));
  const unsigned n = plan.tile.keys;
  Reg sums = b.undefined(b.accumulatorType(n));
  b.fenceProducts();
  for (unsigned i = 0; i * productDepth < k.s.headDim; ++i) {
    const unsigned panel = i / 4, bytes = i % 4 * 2 * productDepth;
    sums = b.multiply(
        n, queries + descriptorStep(panel * plan.queryPanel + bytes),
        keys + descriptorStep(panel * plan.keyPanel + bytes), sums, i == 0);
  }
  b.commitProducts();
  return sums;
}

Regs Consumer::issueValues(Reg stage, const Regs &weights, Regs out) {
  Reg values =
      descriptor(b.addressOf(k.valueRing.address(stage)), plan.keyPanel);
  b.fenceProducts();
  for (unsigned i = 0; i * productDepth < plan.tile.keys; ++i)
    out = b.multiplyRegisters(
        unsigned(k.s.valueDim), llvm::ArrayRef(weights).slice(4 * i, 4),
        values + descriptorStep(i * productDepth * lineBytes), out);
  b.commitProducts();
  return out;
}

// The accumulators of two blocks of 8 columns are, two to a word, operand A of
// one step.
Regs Consumer::weightsOf(const Regs &scores) {
  Regs words;
  for (unsigned i = 0; i < plan.tile.keys / 2; i += 2)
    words.push_back(b.packHalf(scores[i], scores[i + 1]));
  return words;
}

// now: block, both rings, rows, out, weights of the block before.
Regs Consumer::step(const QueryTile &tile, const Regs &now) {
  const size_t first = 9, outs = k.s.valueDim / 2;
  Reg block = now[0];
  RingState keys{now[1], now[2]}, values{now[3], now[4]};
  SoftmaxRows rows{{now[5], now[6]}, {now[7], now[8]}};
  Regs regs = b.beforeProducts(Regs(now.begin() + first, now.end()));
  Regs out(regs.begin(), regs.begin() + outs),
      weights(regs.begin() + outs, regs.end());
  Regs mask = this->mask(tile, block);
  turns.take();
  Reg sums = issueScores(keys.stage);
  awaitValues(values);
  out = issueValues(values.stage, weights, out);
  turns.pass();
  b.waitProducts(1);
  Regs products = b.afterProducts(b.unpack(sums));
  release(k.keyRing.empty(keys.stage));
  releaseQueries(tile, block);
  Regs scores = softmax.of(tile, block, mask, products, rows);
  keys = k.keyRing.next(keys);
  for (Reg reg : {rows.top[0], rows.top[1], rows.sum[0], rows.sum[1]})
    scores.push_back(reg);
  scores = b.beforeProducts(scores);
  const size_t n = products.size();
  awaitKeysOf(tile, block - 1, keys);
  b.waitProducts(0);
  out = b.afterProducts(out);
  // Not earlier: ptxas serialises products whose registers change meanwhile.
  Regs next =
      weightsOf(b.beforeProducts(Regs(scores.begin(), scores.begin() + n)));
  release(k.valueRing.empty(values.stage));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = out[i] * scores[n + i / 2 % 2];
  Regs all{block - 1};
  append(all, keys);
  append(all, k.valueRing.next(values));
  all.insert(all.end(), scores.begin() + n + 2, scores.end());
  all.insert(all.end(), out.begin(), out.end());
  all.insert(all.end(), next.begin(), next.end());
  return all;
}

Regs Consumer::tileWith(const QueryTile &tile, const Regs &now) {
  RingState keys{now[0], now[1]}, values{now[2], now[3]};
  Reg last = tile.high - 1;
  Regs mask = this->mask(tile, last);
  b.waitBarrier(k.barrier(plan.rotates() ? AttentionPlan::queryReady
                                         : AttentionPlan::queryFull),
                now[4]);
  awaitKeys(keys);
  if (plan.rotates())
    b.noteHarmless("the queries have been turned after these keys");
  turns.take();
  Reg sums = issueScores(keys.stage);
  turns.pass();
  b.waitProducts(0);
  Regs products = b.afterProducts(b.unpack(sums));
  release(k.keyRing.empty(keys.stage));
  releaseQueries(tile, last);
  SoftmaxRows rows = softmax.begin(tile);
  Regs scores = softmax.of(tile, last, mask, products, rows);
  Regs state{last - 1};
  keys = k.keyRing.next(keys);
  awaitKeysOf(tile, last - 1, keys);
  append(state, keys);
  append(state, values);
  state.insert(state.end(),
               {rows.top[0], rows.top[1], rows.sum[0], rows.sum[1]});
  const size_t first = state.size(), outs = k.s.valueDim / 2;
  state.insert(state.end(), outs, b.real(0));
  Regs weights = weightsOf(scores);
  state.insert(state.end(), weights.begin(), weights.end());
  state = b.loop(
      state, [&](const Regs &all) { return ge(all[0], tile.low); },
      [&](const Regs &all) { return step(tile, all); });
  keys = {state[1], state[2]};
  values = {state[3], state[4]};
  rows = {{state[5], state[6]}, {state[7], state[8]}};
  Regs regs = b.beforeProducts(Regs(state.begin() + first, state.end()));
  awaitValues(values);
  Regs out = issueValues(values.stage, Regs(regs.begin() + outs, regs.end()),
                         Regs(regs.begin(), regs.begin() + outs));
  b.waitProducts(0);
  out = b.afterProducts(out);
  release(k.valueRing.empty(values.stage),
          plan.tile.persistent ? "" : "no tile follows");
  storeOut(tile, out, rows);
  Regs next;
  append(next, keys);
  append(next, k.valueRing.next(values));
  next.push_back(now[4] ^ 1);
  return next;
}

void Consumer::storeOut(const QueryTile &tile, const Regs &out,
                        const SoftmaxRows &rows) {
  Regs inverse = softmax.inverse(rows);
  Reg bytes = own * int(groupQueries * lineBytes);
  auto panel = [&](unsigned c) {
    return b.at(k.shared, bytes + (plan.outAt + c * plan.queryPanel));
  };
  auto word = [&](size_t i, unsigned h) {
    if (i + 1 >= out.size())
      return b.constant(0);
    return b.packHalf(out[i] * inverse[h], out[i + 1] * inverse[h]);
  };
  if (plan.tile.persistent) { // the last tile's out has left
    b.ifThen(isLead(), [&] { b.waitStores(0); });
    b.syncNamed(own + 1, groupThreads);
  }
  // Whole panels: what lies past the head's columns is read, not written.
  for (unsigned q = 0; q < 4 * plan.valuePanels; ++q) {
    Regs four;
    for (unsigned i = 0; i < 4; ++i)
      four.push_back(word(8 * q + 2 * i, i % 2));
    b.storeMatrices(fragments.matrixAddress(panel(q / 4), q % 4), four);
  }
  b.fenceAsync();
  b.syncNamed(own + 1, groupThreads);
  b.ifThen(isLead(), [&] {
    for (unsigned c = 0; c < plan.valuePanels; ++c)
      b.storeBox(b.argument(k.numbers.out), panel(c),
                 {b.constant(lineColumns * c), tile.head,
                  tile.query + own * int(groupQueries), tile.sequence});
    b.commitStores();
  });
}

} // namespace

void AttentionKernel::consume() {
  Consumer(*this, group - 1, thread % groupThreads).run();
}

} // namespace mille::nvvm
