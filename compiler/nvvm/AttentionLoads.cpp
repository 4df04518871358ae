// The producer of an attention kernel, and the warps beside it that prepare
// what has arrived: RoPE of queries and keys in place, and zeros in place of
// the values of hidden keys. Must not multiply.
#include "compiler/nvvm/AttentionKernel.h"

namespace mille::nvvm {

using Optional = AttentionOperand;

std::pair<RingState, RingState> inOrder(AttentionKernel &kernel,
                                        const QueryTile &tile, RingState keys,
                                        RingState values,
                                        const LoadOrder &order) {
  Reg last = tile.high - 1;
  keys = order.keys(last, keys);
  order.queries();
  Regs state{last - 1};
  append(state, keys);
  append(state, values);
  state = kernel.b.loop(
      state, [&](const Regs &now) { return ge(now[0], tile.low); },
      [&](const Regs &now) {
        Reg block = now[0];
        Regs next{block - 1};
        append(next, order.keys(block, {now[1], now[2]}));
        append(next, order.values(block + 1, {now[3], now[4]}));
        return next;
      });
  values = order.values(state[0] + 1, {state[3], state[4]});
  return {{state[1], state[2]}, values};
}

//===-- The producer ------------------------------------------------------===//

void AttentionKernel::produce() {
  Regs state;
  append(state, keyRing.producer());
  append(state, valueRing.producer());
  state.push_back(b.constant(1));
  eachTile(state, [&](const QueryTile &tile, const Regs &now) {
    Reg head = tile.head / s.group();
    bool first = true;
    auto load = [&](Ring &ring, unsigned map, unsigned panels, int64_t offset,
                    int64_t size, Reg block, RingState at) {
      const bool unused = first && !plan.tile.persistent;
      first = false;
      if (unused) // no stage has been read yet
        b.arriveExpecting(ring.full(at.stage), ring.stageBytes());
      else
        ring.acquire(at, ring.stageBytes());
      Reg to = ring.address(at.stage);
      for (unsigned c = 0; c < panels; ++c)
        b.loadBox(b.at(to, c * plan.keyPanel), b.argument(map),
                  ring.full(at.stage),
                  {b.constant(lineColumns * c), head + offset / size,
                   block * plan.tile.keys, tile.sequence});
      return ring.next(at);
    };
    auto loadQueries = [&] {
      Reg full = barrier(AttentionPlan::queryFull);
      if (plan.tile.persistent)
        b.waitBarrier(barrier(AttentionPlan::queryEmpty), now[4]);
      b.arriveExpecting(full, plan.queryBytes);
      for (unsigned c = 0; c < plan.headPanels; ++c)
        for (unsigned g = 0; g < plan.tile.groups; ++g)
          b.loadBox(
              b.at(shared, c * plan.queryPanel + g * groupQueries * lineBytes),
              b.argument(numbers.query), full,
              {b.constant(lineColumns * c),
               tile.head + s.queryOffset / s.headDim,
               tile.query + groupQueries * g, tile.sequence});
    };
    auto loadKeys = [&](Reg block, RingState at) {
      return load(keyRing, numbers.key, plan.headPanels, s.keyOffset, s.headDim,
                  block, at);
    };
    auto loadValues = [&](Reg block, RingState at) {
      return load(valueRing, numbers.value, plan.valuePanels, s.valueOffset,
                  s.valueDim, block, at);
    };
    auto [keys, values] =
        inOrder(*this, tile, {now[0], now[1]}, {now[2], now[3]},
                {loadKeys, loadValues, loadQueries});
    Regs next;
    append(next, keys);
    append(next, values);
    next.push_back(now[4] ^ 1);
    return next;
  });
}

//===-- Preparation -------------------------------------------------------===//

namespace {

// RoPE of lines of panels. A thread turns 4 pairs at a time, in two pieces of 4
// columns.
class Turner {
public:
  Turner(AttentionKernel &kernel, Reg thread)
      : k(kernel), b(kernel.b), s(kernel.s), thread(thread) {}

  // Lines 0 ... lines - 1 at `panels`; line i is row min(first + i, last) of
  // the table.
  void turn(Reg panels, unsigned panelBytes, unsigned lines, Reg first,
            Reg last) {
    const int64_t pieces = s.angles() / 4;
    b.loop(
        {thread},
        [&](const Regs &now) { return lt(now[0], int64_t(lines) * pieces); },
        [&](const Regs &now) {
          Reg line = now[0] / pieces, piece = now[0] % pieces;
          turnPiece(panels, panelBytes, line, piece,
                    b.minSigned(first + line, last));
          return Regs{now[0] + preparingThreads};
        });
  }

private:
  // Of 4 columns that begin at a multiple of 4.
  Reg addressOf(Reg panels, unsigned panelBytes, Reg line, Reg column) {
    Reg byte = (column % lineColumns) * 2;
    Reg part = (byte >> 4) ^ (line & 7);
    return b.at(panels, column / lineColumns * panelBytes + line * lineBytes +
                            (part << 4) + (byte & 8));
  }
  Regs columnsAt(Reg address) {
    Regs out;
    for (Reg word : b.elements(b.load(address, b.vectorOf(2, b.i32()), 8)))
      for (Reg column : b.unpackHalf(word))
        out.push_back(column);
    return out;
  }
  void store(const Regs &four, Reg address) {
    b.store(
        b.vector({b.packHalf(four[0], four[1]), b.packHalf(four[2], four[3])}),
        address, 8);
  }
  Regs tableAt(Reg row, Operand column) {
    Reg place = b.widen(row) * s[Optional::rotation]->rowStride + column;
    return b.elements(b.load(b.at(k.argument(Optional::rotation), place * 4),
                             b.vectorOf(4, b.f32()), 16));
  }

  void turnPiece(Reg panels, unsigned panelBytes, Reg line, Reg piece,
                 Reg row) {
    Reg from = (s.interleaved ? piece * 8 : piece * 4) + s.start;
    Reg low = addressOf(panels, panelBytes, line, from);
    Reg high = addressOf(panels, panelBytes, line,
                         from + (s.interleaved ? 4 : s.angles()));
    Regs x = columnsAt(low), y = columnsAt(high);
    Regs cosines = tableAt(row, b.widen(piece * 4));
    Regs sines = tableAt(row, b.widen(piece * 4) + s.angles());
    if (s.interleaved) { // pairs lie side by side
      Regs all = x;
      all.insert(all.end(), y.begin(), y.end());
      x = {all[0], all[2], all[4], all[6]};
      y = {all[1], all[3], all[5], all[7]};
    }
    Regs u, v;
    for (unsigned i = 0; i < 4; ++i) {
      u.push_back(x[i] * cosines[i] - y[i] * sines[i]);
      v.push_back(y[i] * cosines[i] + x[i] * sines[i]);
    }
    store(s.interleaved ? Regs{u[0], v[0], u[1], v[1]} : u, low);
    store(s.interleaved ? Regs{u[2], v[2], u[3], v[3]} : v, high);
  }

  AttentionKernel &k;
  Builder &b;
  const AttentionSpec &s;
  Reg thread;
};

// Zeros in place of the values of keys that the mask hides.
void clean(AttentionKernel &k, const QueryTile &tile, Reg block, Reg values,
           Reg thread, const Regs &mask) {
  Builder &b = k.b;
  const AttentionPlan &plan = k.plan;
  Regs bits = k.seenBits(mask, block);
  Reg all = bits[0];
  for (size_t w = 1; w < bits.size(); ++w)
    all = all & bits[w];
  b.ifThen(ne(all, -1), [&] {
    Reg lane = thread % 32;
    b.loop(
        {thread / 32},
        [&](const Regs &now) { return lt(now[0], plan.tile.keys); },
        [&](const Regs &now) {
          Reg key = b.minSigned(block * plan.tile.keys + now[0], k.keys - 1);
          Reg shown = b.load(b.at(k.argument(Optional::keyMask),
                                  b.widen(tile.firstKey + key) * 4),
                             b.i32());
          b.ifThen(eq(shown, 0), [&] {
            Reg line = b.at(values, now[0] * lineBytes + lane * 4);
            for (unsigned c = 0; c < plan.valuePanels; ++c)
              b.store(b.constant(0), b.at(line, c * plan.keyPanel));
          });
          return Regs{now[0] + preparingThreads / 32};
        });
  });
}

} // namespace

void AttentionKernel::prepare() {
  Reg own = thread - 32;
  Turner turner(*this, own);
  Regs state;
  append(state, keyRing.consumer());
  append(state, valueRing.consumer());
  state.push_back(b.constant(0));
  eachTile(state, [&](const QueryTile &tile, const Regs &now) {
    bool first = true;
    auto done = [&](Reg ready, llvm::StringRef harmless = "") {
      b.fenceAsync();
      if (!harmless.empty())
        b.noteHarmless(harmless);
      b.arrive(ready);
    };
    auto turnQueries = [&] {
      if (!plan.rotates())
        return;
      b.waitBarrier(barrier(AttentionPlan::queryFull), now[4]);
      Reg row = tile.sequence * queries;
      turner.turn(shared, plan.queryPanel, plan.queries, row + tile.query,
                  row + queries - 1);
      done(barrier(AttentionPlan::queryReady));
    };
    auto turnKeys = [&](Reg block, RingState at) {
      if (!plan.rotates())
        return at;
      keyRing.wait(at);
      turner.turn(keyRing.address(at.stage), plan.keyPanel, plan.tile.keys,
                  tile.firstKey + block * plan.tile.keys,
                  tile.firstKey + keys - 1);
      done(keyReady(at.stage),
           first ? "the queries, which are read with these keys, follow" : "");
      first = false;
      return keyRing.next(at);
    };
    auto cleanValues = [&](Reg block, RingState at) {
      if (!plan.cleans())
        return at;
      Regs mask = readMask(tile, block);
      valueRing.wait(at);
      clean(*this, tile, block, valueRing.address(at.stage), own, mask);
      done(valueReady(at.stage));
      return valueRing.next(at);
    };
    auto [keys, values] =
        inOrder(*this, tile, {now[0], now[1]}, {now[2], now[3]},
                {turnKeys, cleanValues, turnQueries});
    Regs next;
    append(next, keys);
    append(next, values);
    next.push_back(now[4] ^ 1);
    return next;
  });
}

} // namespace mille::nvvm
