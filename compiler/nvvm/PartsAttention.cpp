// Attention of f32 by parts of bf16, for heads of up to 64 columns. What
// arrives is split in shared memory by the warps that prepare; weights are
// split in registers. A group's softmax runs beside the other group's products.
// Must not decide who sees whom.
#include "compiler/nvvm/AttentionSoftmax.h"
#include "compiler/nvvm/Parts.h"

namespace mille::nvvm {

constexpr unsigned itemRows = 64; // that arrive in a stage

Ring AttentionKernel::rawRing() {
  return Ring(b, shared, AttentionPlan::rawStages, AttentionPlan::rawBytes,
              plan.rawAt, plan.rawRingAt(), preparingThreads);
}

//===-- The producer ------------------------------------------------------===//

// Queries of each group, then keys and values of each block.
void AttentionKernel::produceParts() {
  Ring ring = rawRing();
  eachTile({}, [&](const QueryTile &tile, const Regs &) {
    auto load = [&](unsigned map, int64_t offset, int64_t size, Reg head,
                    Reg row, RingState at) {
      const unsigned panels = unsigned((size + rawColumns - 1) / rawColumns);
      const unsigned bytes = panels * itemRows * lineBytes;
      if (map == numbers.query) // no stage has been read yet
        b.arriveExpecting(ring.full(at.stage), bytes);
      else
        ring.acquire(at, bytes);
      Reg to = ring.address(at.stage);
      for (unsigned c = 0; c < panels; ++c)
        b.loadBox(b.at(to, int(c * itemRows * lineBytes)), b.argument(map),
                  ring.full(at.stage),
                  {b.constant(rawColumns * c), head + offset / size, row,
                   tile.sequence});
      return ring.next(at);
    };
    Reg keyHead = tile.head / s.group();
    RingState at = ring.producer();
    for (unsigned g = 0; g < plan.tile.groups; ++g)
      at = load(numbers.query, s.queryOffset, s.headDim, tile.head,
                tile.query + groupQueries * g, at);
    b.loop(
        {tile.high - 1, at.stage, at.parity},
        [&](const Regs &now) { return ge(now[0], tile.low); },
        [&](const Regs &now) -> Regs {
          Reg row = now[0] * plan.tile.keys;
          RingState next = load(numbers.key, s.keyOffset, s.headDim, keyHead,
                                row, {now[1], now[2]});
          next = load(numbers.value, s.valueOffset, s.valueDim, keyHead, row,
                      next);
          return {now[0] - 1, next.stage, next.parity};
        });
    return Regs();
  });
}

//===-- Parts -------------------------------------------------------------===//

namespace {

class Splitter {
public:
  Splitter(AttentionKernel &kernel)
      : b(kernel.b), ring(kernel.rawRing()), thread(kernel.thread - 32) {}

  // Splits what arrives next of `size` columns, and the zeros behind them that
  // fill a step of products, into panels at `to`; a row for which `shown` is
  // false becomes zeros. Arrives at `ready`, after what it split before too.
  RingState item(RingState at, Reg to, int64_t size,
                 llvm::function_ref<Reg(Reg)> shown, Reg ready) {
    ring.wait(at);
    Reg from = ring.address(at.stage);
    const int64_t pieces = 2 * ((size + productDepth - 1) / productDepth);
    b.loop(
        {thread},
        [&](const Regs &now) { return lt(now[0], itemRows * pieces); },
        [&](const Regs &now) {
          eight(from, to, now[0] % int(itemRows), now[0] / int(itemRows),
                shown);
          return Regs{now[0] + preparingThreads};
        });
    if (ready) {
      b.fenceAsync();
      b.arrive(ready);
    }
    b.arrive(ring.empty(at.stage));
    return ring.next(at);
  }

private:
  // 8 columns of a row, which are two pieces of f32 and one of each part.
  void eight(Reg from, Reg to, Reg row, Reg piece,
             llvm::function_ref<Reg(Reg)> shown) {
    Reg line = row * int(lineBytes), turn = row & 7;
    Reg panel = piece / 4 * int(itemRows * lineBytes);
    Regs values;
    for (int half : {0, 1}) {
      Reg part = (((piece % 4) * 2 + half) ^ turn) << 4;
      for (Reg value : b.elements(b.load(b.at(from, panel + line + part),
                                         b.vectorOf(4, b.f32()), 16)))
        values.push_back(value);
    }
    if (shown) {
      Reg keep = shown(row);
      for (Reg &value : values)
        value = b.select(keep, value, b.real(0));
    }
    std::vector<Regs> words = partsOf(b, values);
    for (unsigned p = 0; p < parts; ++p)
      b.store(b.vector(words[p]),
              b.at(to, line + ((piece ^ turn) << 4) +
                           int(p * itemRows * lineBytes)),
              16);
  }

  Builder &b;
  Ring ring;
  Reg thread;
};

} // namespace

void AttentionKernel::prepareParts() {
  Splitter splitter(*this);
  eachTile({}, [&](const QueryTile &tile, const Regs &) {
    RingState raw = rawRing().consumer();
    // The first keys follow, for which products wait.
    for (unsigned g = 0; g < plan.tile.groups; ++g)
      raw = splitter.item(raw, b.at(shared, int(g * plan.queryBytes)),
                          s.headDim, nullptr, {});
    RingState to = keyRing.producer(); // and of values
    Regs state{tile.high - 1};
    append(state, raw);
    append(state, to);
    b.loop(
        state, [&](const Regs &now) { return ge(now[0], tile.low); },
        [&](const Regs &now) {
          RingState raw{now[1], now[2]}, to{now[3], now[4]};
          // A hidden key's value counts nothing, even if it is not a number.
          auto shown = [&](Reg row) {
            Reg key = b.minSigned(now[0] * plan.tile.keys + row, keys - 1);
            return ne(b.load(b.at(argument(AttentionOperand::keyMask),
                                  b.widen(tile.firstKey + key) * 4),
                             b.i32()),
                      0);
          };
          b.waitBarrier(keyRing.empty(to.stage), to.parity);
          raw = splitter.item(raw, keyRing.address(to.stage), s.headDim,
                              nullptr, keyReady(to.stage));
          b.waitBarrier(valueRing.empty(to.stage), to.parity);
          llvm::function_ref<Reg(Reg)> all;
          raw =
              splitter.item(raw, valueRing.address(to.stage), s.valueDim,
                            plan.cleans() ? shown : all, valueReady(to.stage));
          Regs next{now[0] - 1};
          append(next, raw);
          append(next, keyRing.next(to));
          return next;
        });
    return Regs();
  });
}

//===-- Products ----------------------------------------------------------===//

namespace {

class PartsConsumer {
public:
  PartsConsumer(AttentionKernel &kernel, Reg own, Reg thread)
      : k(kernel), b(kernel.b), plan(kernel.plan), own(own), thread(thread),
        fragments(kernel.b, thread), turns(kernel.b, plan.tile.groups, own),
        softmax(kernel, own, fragments) {}

  void run() {
    turns.begin();
    k.eachTile({}, [&](const QueryTile &tile, const Regs &) {
      compute(tile);
      return Regs();
    });
    b.ifThen(eq(own, 0), [&] { turns.take(); }); // no arrival is left over
    b.ifThen(isLead(), [&] { b.waitStores(0, /*read=*/false); });
  }

private:
  Reg isLead() { return eq(thread, 0); }
  void release(Reg barrier) {
    b.ifThen(isLead(), [&] { b.arrive(barrier); });
  }

  // Sums of all products of parts of 64 keys with a group's queries.
  Regs scores(Reg stage);
  // The same of weights with values.
  Regs values(Reg stage, const Regs &weights);
  void compute(const QueryTile &tile);
  Regs step(const QueryTile &tile, const Regs &now);
  void storeOut(const QueryTile &tile, const Regs &out, const Regs &inverse);

  AttentionKernel &k;
  Builder &b;
  const AttentionPlan &plan;
  Reg own, thread; // the number among the groups that multiply; in the group
  Fragments fragments;
  Turns turns;
  Softmax softmax;
};

} // namespace

Regs PartsConsumer::scores(Reg stage) {
  Reg queries = descriptor(b.addressOf(k.shared) + own * int(plan.queryBytes));
  Reg keys = descriptor(b.addressOf(k.keyRing.address(stage)));
  const unsigned n = plan.tile.keys;
  Reg sums = b.undefined(b.accumulatorType(n));
  bool zero = true;
  b.fenceProducts();
  for (auto [ofQuery, ofKey] : partProducts)
    for (unsigned i = 0; i * productDepth < k.s.headDim; ++i) {
      sums = b.multiply(
          n, queries + descriptorStep(ofQuery * plan.queryPanel + 32 * i),
          keys + descriptorStep(ofKey * plan.keyPanel + 32 * i), sums, zero);
      zero = false;
    }
  b.commitProducts();
  return b.unpack(sums);
}

// The accumulators of two blocks of 8 columns are, two to a word, operand A of
// one step.
Regs PartsConsumer::values(Reg stage, const Regs &weights) {
  std::vector<Regs> words = partsOf(b, weights);
  Regs all;
  for (const Regs &part : words)
    all.insert(all.end(), part.begin(), part.end());
  all = b.beforeProducts(all);
  const unsigned each = words[0].size();
  Reg from = descriptor(b.addressOf(k.valueRing.address(stage)), plan.keyPanel);
  Regs sums(k.s.valueDim / 2, b.undefined(b.f32()));
  bool zero = true;
  b.fenceProducts();
  for (auto [ofWeight, ofValue] : partProducts)
    for (unsigned i = 0; i * productDepth < plan.tile.keys; ++i) {
      sums = b.multiplyRegisters(
          unsigned(k.s.valueDim),
          llvm::ArrayRef(all).slice(ofWeight * each + 4 * i, 4),
          from + descriptorStep(ofValue * plan.keyPanel +
                                i * productDepth * lineBytes),
          sums, Builder::Order::rowsOfK, zero);
      zero = false;
    }
  b.commitProducts();
  return sums;
}

// now: block, place in both rings, rows, out.
Regs PartsConsumer::step(const QueryTile &tile, const Regs &now) {
  Reg block = now[0];
  RingState at{now[1], now[2]};
  SoftmaxRows rows{{now[3], now[4]}, {now[5], now[6]}};
  Regs out(now.begin() + 7, now.end());
  Regs mask = plan.cleans() ? k.readMask(tile, block) : Regs();
  b.waitBarrier(k.keyReady(at.stage), at.parity);
  turns.take();
  Regs sums = scores(at.stage);
  turns.pass();
  b.waitProducts(0);
  sums = b.afterProducts(sums);
  release(k.keyRing.empty(at.stage));
  Regs weights = softmax.of(tile, block, mask, sums, rows);
  Regs before(weights.end() - 2, weights.end());
  weights.resize(weights.size() - 2);
  b.waitBarrier(k.valueReady(at.stage), at.parity);
  turns.take();
  Regs more = values(at.stage, weights);
  turns.pass();
  b.waitProducts(0);
  more = b.afterProducts(more);
  release(k.valueRing.empty(at.stage));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = b.fma(out[i], before[i / 2 % 2], more[i]);
  Regs next{block - 1};
  append(next, k.keyRing.next(at));
  next.insert(next.end(), {rows.top[0], rows.top[1], rows.sum[0], rows.sum[1]});
  next.insert(next.end(), out.begin(), out.end());
  return next;
}

void PartsConsumer::compute(const QueryTile &tile) {
  SoftmaxRows rows = softmax.begin(tile);
  Regs state{tile.high - 1};
  append(state, k.keyRing.consumer());
  state.insert(state.end(),
               {rows.top[0], rows.top[1], rows.sum[0], rows.sum[1]});
  state.insert(state.end(), k.s.valueDim / 2, b.real(0));
  state = b.loop(
      state, [&](const Regs &now) { return ge(now[0], tile.low); },
      [&](const Regs &now) { return step(tile, now); });
  rows = {{state[3], state[4]}, {state[5], state[6]}};
  storeOut(tile, Regs(state.begin() + 7, state.end()), softmax.inverse(rows));
}

// Where the group's queries were.
void PartsConsumer::storeOut(const QueryTile &tile, const Regs &out,
                             const Regs &inverse) {
  const unsigned panels =
      unsigned((k.s.valueDim + rawColumns - 1) / rawColumns);
  auto panel = [&](unsigned c) {
    return b.at(k.shared,
                own * int(plan.queryBytes) + int(c * groupQueries * lineBytes));
  };
  b.syncNamed(own + 1, groupThreads); // all warps have read the queries
  b.noteHarmless("the emulator multiplies for all warps at once");
  for (unsigned c = 0; c < panels; ++c)
    for (unsigned h : {0, 1}) {
      Regs eight;
      for (unsigned j = 0; j < 4; ++j)
        for (unsigned e : {0, 1}) {
          const size_t i = 4 * (4 * c + j) + 2 * h + e;
          eight.push_back(i < out.size() ? out[i] * inverse[h] : b.real(0));
        }
      fragments.storePairs(panel(c), h, eight);
    }
  b.fenceAsync();
  b.syncNamed(own + 1, groupThreads);
  b.ifThen(isLead(), [&] {
    for (unsigned c = 0; c < panels; ++c)
      b.storeBox(b.argument(k.numbers.out), panel(c),
                 {b.constant(rawColumns * c), tile.head,
                  tile.query + own * int(groupQueries), tile.sequence});
    b.commitStores();
  });
}

void AttentionKernel::consumeParts() {
  PartsConsumer(*this, group - 1, thread % groupThreads).run();
}

} // namespace mille::nvvm
