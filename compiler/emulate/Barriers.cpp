// mbarriers, named barriers and the barrier of a cluster. Must not move data.
#include "compiler/emulate/Barriers.h"
#include "compiler/emulate/Machine.h"

using namespace mille::emulate;

static constexpr int namedPerBlock = 16;

void Barriers::restart() {
  Named none;
  none.gathering = none.over = machine.clocks.nothing();
  none.in.assign(machine.clocks.threads, 0);
  all.clear();
  index.assign(machine.shape.cluster * sharedWindow / 8, 0);
  named.assign(namedPerBlock * machine.shape.cluster, none);
  cluster = none;
  clusterTurn.assign(machine.clocks.threads, -1);
}

// ---- mbarriers

void Barriers::init(void *address, int count) {
  int64_t offset = machine.memory.offset(address, 8, "mbarrier.init");
  if (offset % 8)
    machine.fault("mbarrier at +%ld, which is no multiple of 8", long(offset));
  if (count < 1)
    machine.fault("mbarrier initialised with count %d", count);
  if (index[offset / 8])
    machine.fault("mbarrier +%ld initialised twice",
                  long(offset % sharedWindow));
  if (int(all.size()) == machine.clocks.barriers)
    machine.fault("a cluster has more than %d mbarriers, which is what the "
                  "emulator holds",
                  machine.clocks.barriers);
  index[offset / 8] = int(all.size()) + 1;
  int me = machine.current;
  all.push_back({offset, count, count, 0, 0, me, machine.clocks.known(me)[me],
                 false, machine.clocks.nothing(), machine.clocks.nothing()});
}

// Copies and other blocks see what this thread has initialised.
void Barriers::fenceInit() {
  for (Mbarrier &barrier : all)
    barrier.fenced |= barrier.by == machine.current;
}

int Barriers::at(void *address, bool byCopy) {
  int64_t offset = machine.memory.offset(address, 8, "mbarrier");
  long shown = offset % sharedWindow;
  int number = offset % 8 ? 0 : index[offset / 8];
  if (!number)
    machine.fault("mbarrier +%ld used but not initialised", shown);
  Mbarrier &barrier = all[number - 1];
  if (machine.clocks.known(machine.current)[barrier.by] < barrier.byClock)
    machine.fault("mbarrier +%ld used before anything orders its "
                  "initialisation by thread %d",
                  shown, barrier.by % int(machine.shape.threads));
  int block = machine.memory.blockOf(address);
  if (!barrier.fenced && (byCopy || block != machine.block()))
    machine.fault("mbarrier +%ld used by %s without fence.mbarrier.init", shown,
                  byCopy ? "a copy" : "another block");
  if (block != machine.block() && machine.blockIsGone(block))
    machine.fault("arrival at a block that has gone");
  return number - 1;
}

void Barriers::finishPhase(int number) {
  Mbarrier &barrier = all[number];
  if (barrier.pending || barrier.bytes)
    return;
  ++barrier.phase;
  barrier.pending = barrier.expected;
  barrier.gathering.known[machine.clocks.ofBarrier(number)] = barrier.phase;
  barrier.over = barrier.gathering;
  ++machine.progress;
}

void Barriers::wait(void *address, int parity) {
  int number = at(address, false);
  if (machine.memory.blockOf(address) != machine.block())
    machine.fault("wait for the mbarrier of another block");
  if (parity & ~1)
    machine.fault("wait for the parity %d, which is neither 0 nor 1", parity);
  machine.yieldSometimes(3);
  machine.wait(Waits::mbarrier, number, parity);
  machine.clocks.acquire(machine.current, all[number].over);
}

void Barriers::arrive(void *address, int count, int bytes) {
  int number = at(address, false);
  Mbarrier &barrier = all[number];
  if (count < 1 || count > barrier.pending)
    machine.fault("%d arrival(s) at mbarrier +%ld, which expects %d more of "
                  "%d in this phase",
                  count, long(barrier.offset % sharedWindow), barrier.pending,
                  barrier.expected);
  machine.clocks.release(machine.current, barrier.gathering);
  barrier.pending -= count;
  barrier.bytes += bytes;
  finishPhase(number);
  machine.yieldSometimes(4);
}

void Barriers::complete(int number, int bytes) {
  all[number].bytes -= bytes;
  finishPhase(number);
}

std::string Barriers::mbarrierText(int64_t number, int64_t parity) const {
  const Mbarrier &barrier = all[number];
  return "mbarrier +" + std::to_string(barrier.offset % sharedWindow) +
         ", parity " + std::to_string(parity) + ", in phase " +
         std::to_string(barrier.phase) + ": " +
         std::to_string(barrier.pending) + " of " +
         std::to_string(barrier.expected) + " arrivals and " +
         std::to_string(barrier.bytes) + " bytes are due";
}

// ---- named barriers

void Barriers::enter(Named &barrier, int expected) {
  machine.clocks.release(machine.current, barrier.gathering);
  barrier.in[machine.current] = 1;
  barrier.expected = expected;
  if (++barrier.arrived < expected)
    return;
  barrier.arrived = 0;
  std::fill(barrier.in.begin(), barrier.in.end(), 0);
  ++barrier.generation;
  barrier.over = barrier.gathering;
  ++machine.progress;
}

void Barriers::arriveNamed(int id, int count, bool waits) {
  int threads = machine.shape.threads;
  if (count < 0)
    count = threads;
  if (id < 0 || id >= namedPerBlock)
    machine.fault("named barrier %d, but a block has 16", id);
  if (count % 32 || count < 32 || count > threads)
    machine.fault("named barrier %d for %d threads of the %d of a block", id,
                  count, threads);
  int number = machine.block() * namedPerBlock + id;
  Named &barrier = named[number];
  if (barrier.arrived && barrier.expected != count)
    machine.fault("named barrier %d used with %d and with %d threads", id,
                  barrier.expected, count);
  if (barrier.in[machine.current])
    machine.fault("arrives at named barrier %d again while %d of %d threads "
                  "are there",
                  id, barrier.arrived, count);
  int64_t generation = barrier.generation;
  enter(barrier, count);
  if (!waits)
    return;
  machine.wait(Waits::barrier, number, generation);
  machine.clocks.acquire(machine.current, named[number].over);
  machine.yieldSometimes(6);
}

std::string Barriers::barrierText(int64_t number) const {
  return "named barrier " + std::to_string(number % namedPerBlock) + ": " +
         std::to_string(named[number].arrived) + " of " +
         std::to_string(named[number].expected) + " threads are there";
}

// ---- the cluster's

void Barriers::clusterArrive() {
  int64_t &turn = clusterTurn[machine.current];
  if (turn >= 0)
    machine.fault("cluster.arrive twice without cluster.wait");
  turn = cluster.generation;
  enter(cluster, machine.clocks.threads);
}

void Barriers::clusterWait() {
  int64_t &turn = clusterTurn[machine.current];
  if (turn < 0)
    machine.fault("cluster.wait without cluster.arrive");
  machine.wait(Waits::cluster, 0, turn);
  turn = -1;
  machine.clocks.acquire(machine.current, cluster.over);
  machine.yieldSometimes(6);
}

void Barriers::checkEnd() {
  for (const Mbarrier &barrier : all)
    if (barrier.bytes)
      machine.fault("the kernel ends while mbarrier +%ld has %d bytes due",
                    long(barrier.offset % sharedWindow), barrier.bytes);
  for (const Named &barrier : named)
    if (barrier.arrived)
      machine.fault("the kernel ends with %d of %d threads at named barrier "
                    "%ld",
                    barrier.arrived, barrier.expected,
                    long(&barrier - named.data()) % namedPerBlock);
  if (cluster.arrived)
    machine.fault("the kernel ends with %d of %d threads at the cluster's "
                  "barrier",
                  cluster.arrived, cluster.expected);
}
