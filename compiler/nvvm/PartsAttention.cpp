// Attention of f32 by parts of bf16. What arrives is split in shared memory by
// the warps that prepare; weights are split in registers. A group's softmax
// runs beside the other group's products. Sums in the tensor cores are those of
// a panel of 64 columns of a head, or of a block's keys, and added in f32.
// Must not decide who sees whom.
#include "compiler/nvvm/AttentionSoftmax.h"
#include "compiler/nvvm/Parts.h"

namespace mille::nvvm {

Ring AttentionKernel::rawRing() {
  return Ring(b, shared, plan.rawStages, AttentionPlan::rawBytes, plan.rawAt,
              plan.rawRingAt(), preparingThreads);
}

// Columns of panel c of a head.
static int64_t columnsOf(int64_t size, unsigned c) {
  return std::min<int64_t>(size - int64_t(c * lineColumns), lineColumns);
}

//===-- The producer ------------------------------------------------------===//

// Queries of each group, then keys and values of each block.
void AttentionKernel::produceParts() {
  Ring ring = rawRing();
  eachTile({}, [&](const QueryTile &tile, const Regs &) {
    unsigned arrived = 0; // panels
    auto panel = [&](unsigned map, unsigned first, int64_t columns, Reg head,
                     Reg row, unsigned rows, RingState at) {
      const unsigned lines = unsigned((columns + rawColumns - 1) / rawColumns);
      const unsigned bytes = lines * rows * lineBytes;
      // Nobody has read the stages of the first queries.
      if (map == numbers.query && arrived++ < plan.rawStages)
        b.arriveExpecting(ring.full(at.stage), bytes);
      else
        ring.acquire(at, bytes);
      Reg to = ring.address(at.stage);
      for (unsigned i = 0; i < lines; ++i)
        b.loadBox(
            b.at(to, int(i * rows * lineBytes)), b.argument(map),
            ring.full(at.stage),
            {b.constant(first + rawColumns * i), head, row, tile.sequence});
      return ring.next(at);
    };
    auto load = [&](unsigned map, int64_t offset, int64_t size, Reg head,
                    Reg row, unsigned rows, RingState at) {
      for (unsigned c = 0; int64_t(c * lineColumns) < size; ++c)
        at = panel(map, c * lineColumns, columnsOf(size, c),
                   head + offset / size, row, rows, at);
      return at;
    };
    Reg keyHead = tile.head / s.group();
    RingState at = ring.producer();
    for (unsigned g = 0; g < plan.queryGroups(); ++g)
      at = load(numbers.query, s.queryOffset, s.headDim, tile.head,
                tile.query + groupQueries * g, groupQueries, at);
    b.loop(
        {tile.high - 1, at.stage, at.parity},
        [&](const Regs &now) { return ge(now[0], tile.low); },
        [&](const Regs &now) -> Regs {
          const unsigned rows = plan.tile.keys;
          Reg row = now[0] * rows;
          RingState next = load(numbers.key, s.keyOffset, s.headDim, keyHead,
                                row, rows, {now[1], now[2]});
          next = load(numbers.value, s.valueOffset, s.valueDim, keyHead, row,
                      rows, next);
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

  // Splits what arrives next, rows of heads of `size` columns, into panels at
  // `to`; a row for which `shown` is false becomes zeros. Arrives at `ready`,
  // after what it split before too.
  RingState split(RingState at, Reg to, unsigned rows, int64_t size,
                  llvm::function_ref<Reg(Reg)> shown, Reg ready) {
    for (unsigned c = 0; int64_t(c * lineColumns) < size; ++c) {
      const bool last = int64_t((c + 1) * lineColumns) >= size;
      at = panel(at, b.at(to, int(c * parts * rows * lineBytes)), rows,
                 columnsOf(size, c), shown, last ? ready : Reg());
    }
    return at;
  }

private:
  // With the zeros behind its columns that fill a step of products.
  RingState panel(RingState at, Reg to, unsigned rows, int64_t columns,
                  llvm::function_ref<Reg(Reg)> shown, Reg ready) {
    ring.wait(at);
    Reg from = ring.address(at.stage);
    const int64_t pieces = 2 * ((columns + productDepth - 1) / productDepth);
    b.loop(
        {thread}, [&](const Regs &now) { return lt(now[0], rows * pieces); },
        [&](const Regs &now) {
          eight(from, to, rows, now[0] % rows, now[0] / rows, shown);
          return Regs{now[0] + preparingThreads};
        });
    if (ready) {
      b.fenceAsync();
      b.arrive(ready);
    }
    b.arrive(ring.empty(at.stage));
    return ring.next(at);
  }

  // 8 columns of a row, which are two pieces of f32 and one of each part.
  void eight(Reg from, Reg to, unsigned rows, Reg row, Reg piece,
             llvm::function_ref<Reg(Reg)> shown) {
    Reg line = row * int(lineBytes), turn = row & 7;
    Reg panel = piece / 4 * int(rows * lineBytes);
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
      b.store(
          b.vector(words[p]),
          b.at(to, line + ((piece ^ turn) << 4) + int(p * rows * lineBytes)),
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
    for (unsigned g = 0; g < plan.queryGroups(); ++g)
      raw = splitter.split(raw, b.at(shared, int(g * plan.queryBytes)),
                           groupQueries, s.headDim, nullptr, {});
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
          raw = splitter.split(raw, keyRing.address(to.stage), plan.tile.keys,
                               s.headDim, nullptr, keyReady(to.stage));
          b.waitBarrier(valueRing.empty(to.stage), to.parity);
          llvm::function_ref<Reg(Reg)> all;
          raw = splitter.split(raw, valueRing.address(to.stage), plan.tile.keys,
                               s.valueDim, plan.cleans() ? shown : all,
                               valueReady(to.stage));
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
        queries(plan.tile.sharesQueries ? b.constant(0) : own),
        share(plan.tile.sharesQueries ? own : b.constant(0)),
        fragments(kernel.b, thread), turns(kernel.b, plan.groupsInTurns(), own),
        softmax(kernel, queries, fragments) {}

  void run() {
    turns.begin();
    k.eachTile({}, [&](const QueryTile &tile, const Regs &) {
      compute(tile);
      return Regs();
    });
    turns.end();
    b.ifThen(isLead(), [&] { b.waitStores(0, /*read=*/false); });
  }

private:
  Reg isLead() { return eq(thread, 0); }
  unsigned valueColumns() { return k.s.valueDim / plan.sharers(); }
  unsigned valuePanels() { return plan.valuePanels / plan.sharers(); }
  void release(Reg barrier) {
    b.ifThen(isLead(), [&] { b.arrive(barrier); });
  }

  Reg panelAt(Reg operand, unsigned panel, unsigned panelBytes);
  // Sums of all products of parts of a block's keys with a group's queries, in
  // a panel of columns.
  Regs scores(Reg stage, unsigned panel);
  // The same of weights, which are in parts, with a panel of values.
  Regs values(Reg stage, llvm::ArrayRef<Regs> weights, unsigned panel);
  // In a turn: products of each panel, whose sums `take` gets when they are
  // there, and then those of the next one.
  void eachPanel(unsigned panels, llvm::function_ref<Regs(unsigned)> issue,
                 llvm::function_ref<void(unsigned, Regs)> take);
  // What is computed before the next panel's products, if there are any: beside
  // these there are no registers for more than it.
  Regs before(unsigned panel, unsigned panels, const Regs &values) {
    return panel < panels ? b.beforeProducts(values) : values;
  }
  std::vector<Regs> partsBeforeProducts(const Regs &weights);
  void compute(const QueryTile &tile);
  Regs step(const QueryTile &tile, const Regs &now);
  void storeOut(const QueryTile &tile, const Regs &out, const Regs &inverse);

  AttentionKernel &k;
  Builder &b;
  const AttentionPlan &plan;
  Reg own, thread; // the number among the groups that multiply; in the group
  Reg queries;     // which 64 of the tile
  Reg share;       // which columns of the values
  Fragments fragments;
  Turns turns;
  Softmax softmax;
};

} // namespace

void PartsConsumer::eachPanel(unsigned panels,
                              llvm::function_ref<Regs(unsigned)> issue,
                              llvm::function_ref<void(unsigned, Regs)> take) {
  turns.take();
  for (unsigned c = 0; c < panels; ++c) {
    Regs sums = issue(c);
    if (c + 1 == panels)
      turns.pass();
    b.waitProducts(0);
    take(c, b.afterProducts(sums));
  }
}

// The descriptor of an operand's panel. Where panels are many LLVM must not
// compute the descriptors of all steps once, before the loop over keys.
Reg PartsConsumer::panelAt(Reg operand, unsigned panel, unsigned panelBytes) {
  Reg address = b.addressOf(operand);
  if (plan.headPanels * plan.valuePanels > 1)
    address = b.uniform(address);
  return descriptor(address + int(panel * parts * panelBytes), panelBytes);
}

Regs PartsConsumer::scores(Reg stage, unsigned panel) {
  const unsigned n = plan.tile.keys;
  Reg rows = panelAt(b.at(k.shared, queries * int(plan.queryBytes)), panel,
                     plan.queryPanel);
  Reg keys = panelAt(k.keyRing.address(stage), panel, plan.keyPanel);
  Reg sums = b.undefined(b.accumulatorType(n));
  bool zero = true;
  b.fenceProducts();
  for (auto [ofQuery, ofKey] : partProducts)
    for (unsigned i = 0; i * productDepth < columnsOf(k.s.headDim, panel);
         ++i) {
      sums = b.multiply(
          n, rows + descriptorStep(ofQuery * plan.queryPanel + 32 * i),
          keys + descriptorStep(ofKey * plan.keyPanel + 32 * i), sums, zero,
          Product::bf16);
      zero = false;
    }
  b.commitProducts();
  return b.unpack(sums);
}

std::vector<Regs> PartsConsumer::partsBeforeProducts(const Regs &weights) {
  std::vector<Regs> words = partsOf(b, weights);
  Regs all;
  for (const Regs &part : words)
    all.insert(all.end(), part.begin(), part.end());
  all = b.beforeProducts(all);
  auto from = all.begin();
  for (Regs &part : words)
    for (Reg &word : part)
      word = *from++;
  return words;
}

// The accumulators of two blocks of 8 columns are, two to a word, operand A of
// one step.
Regs PartsConsumer::values(Reg stage, llvm::ArrayRef<Regs> weights,
                           unsigned panel) {
  const unsigned n = unsigned(columnsOf(valueColumns(), panel));
  Reg from = panelAt(b.at(k.valueRing.address(stage),
                          share * int(plan.valueBytes / plan.sharers())),
                     panel, plan.keyPanel);
  Regs sums(n / 2, b.undefined(b.f32()));
  bool zero = true;
  b.fenceProducts();
  for (auto [ofWeight, ofValue] : partProducts)
    for (unsigned i = 0; i * productDepth < plan.tile.keys; ++i) {
      sums = b.multiplyRegisters(
          n, llvm::ArrayRef(weights[ofWeight]).slice(4 * i, 4),
          from + descriptorStep(ofValue * plan.keyPanel +
                                i * productDepth * lineBytes),
          sums, Builder::Order::rowsOfK, zero, Product::bf16);
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
  Regs sums;
  eachPanel(
      plan.headPanels, [&](unsigned c) { return scores(at.stage, c); },
      [&](unsigned c, Regs more) {
        for (size_t i = 0; i < sums.size(); ++i)
          more[i] = sums[i] + more[i];
        sums = before(c + 1, plan.headPanels, more);
      });
  release(k.keyRing.empty(at.stage));
  Regs weights = softmax.of(tile, block, mask, sums, rows);
  Regs factors(weights.end() - 2, weights.end());
  weights.resize(weights.size() - 2);
  b.waitBarrier(k.valueReady(at.stage), at.parity);
  const std::vector<Regs> words = partsBeforeProducts(weights);
  eachPanel(
      valuePanels(), [&](unsigned c) { return values(at.stage, words, c); },
      [&](unsigned c, Regs more) {
        const auto sums = out.begin() + c * lineColumns / 2;
        for (size_t i = 0; i < more.size(); ++i)
          more[i] = b.fma(sums[i], factors[i / 2 % 2], more[i]);
        llvm::copy(before(c + 1, valuePanels(), more), sums);
      });
  release(k.valueRing.empty(at.stage));
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
  state.insert(state.end(), valueColumns() / 2, b.real(0));
  state = b.loop(
      state, [&](const Regs &now) { return ge(now[0], tile.low); },
      [&](const Regs &now) { return step(tile, now); });
  rows = {{state[3], state[4]}, {state[5], state[6]}};
  storeOut(tile, Regs(state.begin() + 7, state.end()), softmax.inverse(rows));
}

// Where the queries were.
void PartsConsumer::storeOut(const QueryTile &tile, const Regs &out,
                             const Regs &inverse) {
  const unsigned panels = (valueColumns() + rawColumns - 1) / rawColumns;
  auto panel = [&](unsigned c) {
    return b.at(k.shared,
                queries * int(plan.queryBytes) +
                    (share * panels + c) * int(groupQueries * lineBytes));
  };
  // All warps have read the queries.
  b.syncNamed(queries + 1, plan.sharers() * groupThreads);
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
  b.syncNamed(queries + 1, plan.sharers() * groupThreads);
  b.ifThen(isLead(), [&] {
    for (unsigned c = 0; c < panels; ++c)
      b.storeBox(b.argument(k.numbers.out), panel(c),
                 {(share * panels + c) * int(rawColumns), tile.head,
                  tile.query + queries * int(groupQueries), tile.sequence});
    b.commitStores();
  });
}

void AttentionKernel::consumeParts() {
  PartsConsumer(*this, group - 1, thread % groupThreads).run();
}

} // namespace mille::nvvm
