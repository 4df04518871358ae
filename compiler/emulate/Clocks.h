// What each thread of a cluster knows to have happened: vector clocks. They are
// carried by barriers and waits. Must not know what happens at a time.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mille::emulate {

using Clock = std::vector<int32_t>;

inline void join(int32_t *into, const int32_t *from, int slots) {
  for (int i = 0; i < slots; ++i)
    into[i] = into[i] > from[i] ? into[i] : from[i];
}

// A release gathers what is known, and what of it the asynchronous proxy sees.
struct Knowledge {
  Clock known, proxied;
};

// A slot counts the events of: a thread; the product groups of a warp group;
// the phases of an mbarrier, which copies complete; the bulk stores of a warp
// that have read shared memory; those that have written global memory.
class Clocks {
public:
  Clocks(int threads, int groups, int barriers)
      : threads(threads), groups(groups), barriers(barriers),
        slots(threads + groups + barriers + 2 * (threads / 32)),
        all(size_t(2) * threads * slots) {}

  int ofProducts(int group) const { return threads + group; }
  int ofBarrier(int barrier) const { return threads + groups + barrier; }
  int ofReads(int warp) const { return threads + groups + barriers + warp; }
  int ofWrites(int warp) const { return ofReads(warp) + threads / 32; }
  bool isThread(int slot) const { return slot < threads; }
  bool isProducts(int slot) const {
    return !isThread(slot) && slot < threads + groups;
  }
  bool isBarrier(int slot) const {
    return slot >= threads + groups && slot < threads + groups + barriers;
  }

  int32_t *known(int thread) { return &all[size_t(2) * thread * slots]; }
  int32_t *proxied(int thread) { return known(thread) + slots; }
  Knowledge nothing() const { return {Clock(slots), Clock(slots)}; }

  void restart() {
    std::fill(all.begin(), all.end(), 0);
    for (int i = 0; i < threads; ++i)
      known(i)[i] = 1;
  }
  void release(int thread, Knowledge &into) {
    join(into.known.data(), known(thread), slots);
    join(into.proxied.data(), proxied(thread), slots);
    ++known(thread)[thread];
  }
  void acquire(int thread, const Knowledge &from) {
    join(known(thread), from.known.data(), slots);
    join(proxied(thread), from.proxied.data(), slots);
  }
  // fence.proxy.async
  void fence(int thread) {
    std::copy(known(thread), known(thread) + slots, proxied(thread));
  }

  const int threads, groups, barriers, slots;

private:
  std::vector<int32_t> all;
};

} // namespace mille::emulate
