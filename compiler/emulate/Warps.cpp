// What the lanes of a warp do together. Must not know other warps.
#include "compiler/emulate/Warps.h"
#include "compiler/emulate/Machine.h"

#include <cstring>

using namespace mille::emulate;

void Warps::restart() {
  warps.assign(machine.clocks.threads / 32, Warp());
  done.assign(machine.clocks.threads, 0);
}

template <typename Work> Warps::Lane &Warps::meet(Work work) {
  Warp &warp = warps[machine.warp()];
  int64_t generation = warp.generation;
  if (++warp.arrived == 32) {
    warp.arrived = 0;
    work(warp.lanes);
    ++warp.generation;
    ++machine.progress;
  } else
    machine.wait(Waits::warp, machine.warp(), generation);
  return warp.lanes[machine.current % 32];
}

void Warps::checkMask(uint32_t mask) {
  if (mask != ~0u)
    machine.fault("lanes %#x of a warp; only all lanes together are modelled",
                  mask);
}

// Lane `lane` gets the value of this lane; of none: its own.
static int sourceOf(Shuffle kind, int lane, int offset, int last) {
  int from = lane;
  switch (kind) {
  case Shuffle::exclusiveOr:
    from = lane ^ offset;
    break;
  case Shuffle::index:
    from = offset & 31;
    break;
  case Shuffle::up:
    from = lane - offset;
    return from >= last ? from : lane;
  case Shuffle::down:
    from = lane + offset;
    break;
  }
  return from >= 0 && from <= last ? from : lane;
}

uint32_t Warps::shuffle(Shuffle kind, uint32_t mask, uint32_t value, int offset,
                        int clamp) {
  checkMask(mask);
  if (clamp & ~31)
    machine.fault("a shuffle in segments of a warp, which is not modelled");
  Lane &own = warps[machine.warp()].lanes[machine.current % 32];
  own.value = value;
  own.values[0] = offset;
  Lane &mine = meet([&](Lane *lanes) {
    for (int i = 0; i < 32; ++i)
      lanes[i].result[0] =
          lanes[sourceOf(kind, i, int(lanes[i].values[0]), clamp)].value;
  });
  return mine.result[0];
}

uint32_t Warps::vote(Vote kind, uint32_t mask, bool value) {
  checkMask(mask);
  warps[machine.warp()].lanes[machine.current % 32].value = value;
  Lane &mine = meet([](Lane *lanes) {
    uint32_t all = 0;
    for (int i = 0; i < 32; ++i)
      all |= lanes[i].value << i;
    for (int i = 0; i < 32; ++i)
      lanes[i].result[0] = all;
  });
  uint32_t all = mine.result[0];
  return kind == Vote::ballot ? all : kind == Vote::any ? all != 0 : all == ~0u;
}

// Orders what the lanes did before and do after.
void Warps::synchronize(uint32_t mask) {
  checkMask(mask);
  int first = machine.current & ~31;
  meet([&](Lane *) {
    Knowledge all = machine.clocks.nothing();
    for (int i = 0; i < 32; ++i)
      machine.clocks.release(first + i, all);
    for (int i = 0; i < 32; ++i)
      machine.clocks.acquire(first + i, all);
  });
}

bool Warps::elect() { return machine.current % 32 == 0; }

void Warps::loadMatrices(void *address, int count, bool transposed,
                         uint32_t *out) {
  int lane = machine.current % 32;
  if (lane < 8 * count)
    machine.memory.access(address, 16, 0, 3);
  warps[machine.warp()].lanes[lane].address = address;
  Lane &mine = meet([&](Lane *lanes) {
    for (int m = 0; m < count; ++m)
      for (int i = 0; i < 32; ++i)
        for (int e = 0; e < 2; ++e) {
          int row = i / 4, column = 2 * (i % 4) + e;
          if (transposed)
            std::swap(row, column);
          std::memcpy((char *)&lanes[i].result[m] + 2 * e,
                      (char *)lanes[8 * m + row].address + 2 * column, 2);
        }
  });
  std::copy(mine.result, mine.result + count, out);
}

void Warps::storeMatrices(void *address, int count, bool transposed,
                          const uint32_t *values) {
  int lane = machine.current % 32;
  if (lane < 8 * count)
    machine.memory.access(address, 16, 1, 3);
  Lane &own = warps[machine.warp()].lanes[lane];
  own.address = address;
  std::copy(values, values + count, own.values);
  meet([&](Lane *lanes) {
    for (int m = 0; m < count; ++m)
      for (int i = 0; i < 32; ++i)
        for (int e = 0; e < 2; ++e) {
          int row = i / 4, column = 2 * (i % 4) + e;
          if (transposed)
            std::swap(row, column);
          std::memcpy((char *)lanes[8 * m + row].address + 2 * column,
                      (char *)&lanes[i].values[m] + 2 * e, 2);
        }
  });
}

void Warps::aligned(int place) {
  std::vector<int> &order = warps[machine.warp()].order;
  size_t &mine = done[machine.current];
  if (mine == order.size())
    order.push_back(place);
  else if (order[mine] != place)
    machine.fault("the lanes of a warp part ways before an instruction that "
                  "needs all of them: another lane is%s",
                  machine.placeText(order[mine]).c_str());
  ++mine;
}

void Warps::leave() {
  Warp &warp = warps[machine.warp()];
  if (warp.arrived)
    machine.fault("a lane ends while %d others of its warp wait for it",
                  warp.arrived);
}

void Warps::checkEnd() {
  for (size_t thread = 0; thread < done.size(); ++thread) {
    const std::vector<int> &order = warps[thread / 32].order;
    if (done[thread] < order.size())
      machine.fault("a lane of warp %zu never came to an instruction that "
                    "needs all lanes:%s",
                    thread / 32,
                    machine.placeText(order[done[thread]]).c_str());
  }
}
