// The ring's barriers and parities, and turns. Must not copy or multiply.
#include "compiler/nvvm/Ring.h"

namespace mille::nvvm {

// Named barrier 0 is the block's, 1 ... 3 the groups' own.
constexpr int firstTurn = 4;

void append(Regs &values, const RingState &state) {
  values.push_back(state.stage);
  values.push_back(state.parity);
}

Ring::Ring(Builder &builder, Reg shared, unsigned stages, unsigned stageBytes,
           unsigned offset, unsigned barriers, unsigned consumers,
           unsigned cluster)
    : b(builder), shared(shared), count(stages), bytes(stageBytes),
      offset(offset), barriers(barriers), consumers(consumers),
      cluster(cluster) {}

void Ring::init() {
  for (unsigned s = 0; s < count; ++s) {
    b.initBarrier(b.at(shared, barriers + 8 * s), 1);
    b.initBarrier(b.at(shared, barriers + 8 * (count + s)),
                  consumers * cluster);
  }
}

void Ring::initForTwo(Reg thread) {
  assert(consumers * cluster == 1 && "one releases a stage");
  b.ifThen(lt(thread, count),
           [&] { b.initBarrier(b.at(shared, thread * 8 + barriers), 2); });
  b.ifThen(ge(thread, count) & lt(thread, 2 * count),
           [&] { b.initBarrier(b.at(shared, thread * 8 + barriers), 1); });
}

RingState Ring::producer() { return {b.constant(0), b.constant(1)}; }
RingState Ring::consumer() { return {b.constant(0), b.constant(0)}; }

RingState Ring::next(const RingState &state) {
  Reg stage = state.stage + 1;
  Reg wraps = eq(stage, count);
  return {b.select(wraps, b.constant(0), stage),
          b.select(wraps, state.parity ^ 1, state.parity)};
}

RingState Ring::skip(const RingState &state, Reg steps) {
  Reg sum = state.stage + steps;
  return {sum % count, state.parity ^ ((sum / count) & 1)};
}

Reg Ring::before(Reg stage) {
  return b.select(eq(stage, 0), b.constant(count - 1), stage - 1);
}

Reg Ring::address(Reg stage, unsigned extra) {
  return b.at(shared, stage * bytes + (offset + extra));
}

Reg Ring::full(Reg stage) { return b.at(shared, stage * 8 + barriers); }

Reg Ring::empty(Reg stage) {
  return b.at(shared, stage * 8 + (barriers + 8 * count));
}

Reg Ring::acquire(const RingState &state, Operand expected) {
  b.waitBarrier(empty(state.stage), state.parity);
  b.arriveExpecting(full(state.stage), expected);
  return address(state.stage);
}

RingState
Ring::eachStep(RingState start, Reg from, Reg to,
               llvm::function_ref<void(Reg step, RingState at)> body) {
  Regs end = b.loop(
      {from, start.stage, start.parity},
      [&](const Regs &v) { return lt(v[0], to); },
      [&](const Regs &v) -> Regs {
        body(v[0], {v[1], v[2]});
        RingState after = next({v[1], v[2]});
        return {v[0] + 1, after.stage, after.parity};
      });
  return {end[1], end[2]};
}

RingState Ring::fill(Reg from, Reg to, Operand expected, Load weight,
                     Load input) {
  Reg early = b.minSigned(to, from + int(count));
  eachStep(producer(), from, early, [&](Reg step, RingState at) {
    b.arriveExpecting(full(at.stage), expected);
    weight(step, address(at.stage), at);
  });
  b.waitForEarlierKernels();
  RingState rest =
      eachStep(producer(), from, early, [&](Reg step, RingState at) {
        input(step, address(at.stage), at);
      });
  return eachStep(rest, early, to, [&](Reg step, RingState at) {
    Reg stage = acquire(at, expected);
    input(step, stage, at);
    weight(step, stage, at);
  });
}

void Ring::fillPart(Reg to, Operand expected, Load load) {
  eachStep(producer(), b.constant(0), to, [&](Reg step, RingState at) {
    Reg stage = acquire(at, expected);
    load(step, stage, at);
  });
}

void Ring::wait(const RingState &state) {
  b.waitBarrier(full(state.stage), state.parity);
}

void Ring::release(Reg stage, Reg thread) {
  if (cluster == 1)
    b.ifThen(eq(thread, 0), [&] { b.arrive(empty(stage)); });
  else
    b.ifThen(lt(thread, cluster), [&] { b.arriveAt(empty(stage), thread); });
}

void Turns::begin() {
  if (groups > 1)
    b.ifThen(eq(group, groups - 1), [&] { b.arriveNamed(firstTurn, 256); });
}

void Turns::take() {
  if (groups > 1)
    b.syncNamed(group + firstTurn, 256);
}

void Turns::end() {
  if (groups > 1)
    b.ifThen(eq(group, 0), [&] { take(); });
}

void Turns::pass() {
  if (groups == 1)
    return;
  Reg next = groups == 2
                 ? group ^ 1
                 : b.select(eq(group, groups - 1), b.constant(0), group + 1);
  b.arriveNamed(next + firstTurn, 256);
}

} // namespace mille::nvvm
