// Warps combine by shuffles, then their results by shared memory.
#include "compiler/nvvm/PartThreads.h"

#include <algorithm>

namespace mille::nvvm {

void PartThreads::begin(Builder &builder) {
  b = &builder;
  thread = b->threadIndex() % tile.threads;
  slot = b->threadIndex() / tile.threads;
}

void PartThreads::each(Reg all, llvm::function_ref<void(Reg part)> body) {
  Reg stride = b->blockCount() * tile.together;
  // Warps stay whole: where parts share one, all of its lanes go on together.
  Reg own = tile.threads < 32 ? slot % int(32 / tile.threads) : b->constant(0);
  b->loop(
      {b->blockIndex() * tile.together + slot, b->constant(0)},
      [&](const Regs &now) { return lt(now[0] - own, all); },
      [&](const Regs &now) {
        place = now[1];
        body(now[0]);
        return Regs{now[0] + stride, place};
      });
}

Reg PartThreads::combined(Reg x, mlir::Type type,
                          llvm::function_ref<Reg(Reg, Reg)> two) {
  for (unsigned distance = std::min(tile.threads, 32u) / 2; distance;
       distance /= 2)
    x = two(x, b->shuffleXor(x, distance));
  if (tile.threads <= 32)
    return x;
  // The next one takes the other place, so that one barrier is enough: who
  // writes there has passed the barrier after which the last one was read.
  const unsigned warps = tile.threads / 32;
  Reg places =
      b->at(b->sharedMemory(),
            place * int(4 * tile.blockThreads() / 32) + slot * int(4 * warps));
  b->ifThen(eq(thread % 32, 0),
            [&] { b->store(x, b->at(places, thread / 32 * 4)); });
  b->syncNamed(slot + 1, tile.threads);
  Reg all = b->load(places, type);
  for (unsigned w = 1; w < warps; ++w)
    all = two(all, b->load(b->at(places, 4 * w), type));
  place = place ^ 1;
  return all;
}

} // namespace mille::nvvm
