// Copies that run beside the threads. Must not decide who runs.
#include "compiler/emulate/Copies.h"
#include "compiler/emulate/Machine.h"

#include <cstring>

using namespace mille::emulate;

// Where byte `address` of a box with lines of 128 bytes lies.
static char *swizzled(char *address) {
  uintptr_t bits = (uintptr_t)address;
  return (char *)(bits ^ ((bits >> 3) & 0x70));
}

static int64_t boxBytes(const TensorMap &map) {
  int64_t bytes = map.elementBytes;
  for (int i = 0; i < map.rank; ++i)
    bytes *= map.box[i];
  return bytes;
}

// Calls use(line, first byte in global memory, bytes before the tensor, bytes
// in it) for each line of the box.
template <typename Use>
static void eachLine(const TensorMap &map, const int *at, Use use) {
  int64_t lines = 1;
  for (int i = 1; i < map.rank; ++i)
    lines *= map.box[i];
  int64_t from = std::max<int64_t>(at[0], 0);
  int64_t to = std::min<int64_t>(int64_t(at[0]) + map.box[0], map.extent[0]);
  for (int64_t line = 0; line < lines; ++line) {
    bool inside = to > from;
    char *start = map.base + from * map.elementBytes;
    for (int64_t i = 1, rest = line; i < map.rank; ++i) {
      int64_t index = at[i] + rest % map.box[i];
      rest /= map.box[i];
      inside &= index >= 0 && index < map.extent[i];
      start += index * map.stride[i];
    }
    use(line, start, (from - at[0]) * map.elementBytes,
        inside ? (to - from) * map.elementBytes : 0);
  }
}

static void copyIn(const TensorMap &map, char *to, const int *at) {
  eachLine(map, at, [&](int64_t line, char *from, int64_t skip, int64_t bytes) {
    for (int64_t i = 0; i < 128; ++i)
      *swizzled(to + line * 128 + i) =
          i >= skip && i < skip + bytes ? from[i - skip] : 0;
  });
}

static void copyOut(const TensorMap &map, char *from, const int *at) {
  eachLine(map, at, [&](int64_t line, char *to, int64_t skip, int64_t bytes) {
    for (int64_t i = 0; i < bytes; ++i)
      to[i] = *swizzled(from + line * 128 + skip + i);
  });
}

void Copies::restart() {
  loads.clear();
  queues.assign(machine.clocks.threads / 32, Queue());
}

void Copies::checkMap(const TensorMap *map, int rank, const void *shared) {
  bool known = false;
  for (const TensorMap &one : *maps)
    known |= &one == map;
  if (!known)
    machine.fault("a copy by an address that is no tensor map");
  if (map->rank != rank)
    machine.fault("a copy with %d coordinates by a tensor map with %d", rank,
                  map->rank);
  if ((uintptr_t)shared & 1023)
    machine.fault("a box at +%ld, which is no multiple of 1024 bytes",
                  long((uintptr_t)shared % sharedWindow));
}

// The box's part of global memory may be read, or written as `slot`.
bool Copies::checkBox(const TensorMap &map, const int *at, int slot,
                      int clock) {
  bool good = true;
  eachLine(map, at, [&](int64_t, char *start, int64_t, int64_t bytes) {
    if (bytes && good)
      good = slot < 0 ? machine.memory.readGlobal(start, bytes, "a box's load")
                      : machine.memory.writeGlobal(start, bytes, slot, clock,
                                                   "a box's store");
  });
  return good;
}

// The bytes count as written when the mbarrier's phase is over; until the copy
// lands they are NaN.
void Copies::issue(Load load, void *mbarrier, const char *what) {
  load.mbarrier = machine.barriers.at(mbarrier, true);
  load.late = machine.draw() % 8 == 0;
  machine.memory.writeAsync(load.to, load.bytes,
                            machine.clocks.ofBarrier(load.mbarrier),
                            machine.barriers.phase(load.mbarrier) + 1, what);
  std::memset(load.to, 0xff, load.bytes);
  loads.push_back(load);
}

void Copies::eachBlock(int mask, void *to, void *mbarrier, const Load &load,
                       const char *what) {
  Load one = load;
  if (mask < 0) {
    one.to = (char *)to;
    return issue(one, mbarrier, what);
  }
  int cluster = machine.shape.cluster;
  if (!mask || mask >> cluster)
    machine.fault("a copy to blocks %#x of a cluster of %d", mask, cluster);
  for (int block = 0; block < cluster; ++block) {
    if (!(mask >> block & 1))
      continue;
    char *window = machine.memory.window(block);
    one.to = window + (uintptr_t)to % sharedWindow;
    issue(one, window + (uintptr_t)mbarrier % sharedWindow, what);
  }
}

void Copies::loadTensor(void *to, const TensorMap *map, void *mbarrier,
                        int mask, int rank, const int *at) {
  checkMap(map, rank, to);
  checkBox(*map, at, -1, 0);
  Load load = {map, nullptr, nullptr, {}, int(boxBytes(*map)), 0, false, false};
  std::copy(at, at + 5, load.at);
  eachBlock(mask, to, mbarrier, load, "a box");
  machine.yieldSometimes(2);
}

void Copies::load(void *to, void *from, void *mbarrier, int bytes, int mask) {
  if (bytes % 16 || (uintptr_t)to % 16 || (uintptr_t)from % 16)
    machine.fault("a copy of %d bytes; size and addresses must be multiples of "
                  "16",
                  bytes);
  machine.memory.readGlobal(from, bytes, "a copy");
  Load load = {nullptr, nullptr, (char *)from, {}, bytes, 0, false, false};
  eachBlock(mask, to, mbarrier, load, "a copy");
  machine.yieldSometimes(2);
}

void Copies::send(void *to, void *from, void *mbarrier, int bytes) {
  int me = machine.current;
  if (bytes % 16 || (uintptr_t)to % 16 || (uintptr_t)from % 16)
    machine.fault("a copy of %d bytes; size and addresses must be multiples of "
                  "16",
                  bytes);
  if (machine.memory.blockOf(to) != machine.memory.blockOf(mbarrier))
    machine.fault("a copy to one block that completes at another's mbarrier");
  int number = machine.barriers.at(mbarrier, true);
  machine.memory.readAsync(
      from, bytes, machine.clocks.known(me), machine.clocks.proxied(me),
      machine.clocks.ofBarrier(number), machine.barriers.phase(number) + 1,
      "a copy to another block");
  Load load = {nullptr, (char *)to, (char *)from, {}, bytes, 0, false, true};
  issue(load, mbarrier, "a copy from another block");
  machine.yieldSometimes(2);
}

void Copies::land(size_t index) {
  Load load = loads[index];
  loads.erase(loads.begin() + index);
  if (machine.blockIsGone(machine.memory.blockOf(load.to)))
    return machine.fault("a copy lands in a block that has gone");
  if (load.between && machine.blockIsGone(machine.memory.blockOf(load.from)))
    return machine.fault("a copy reads from a block that has gone");
  if (load.map)
    copyIn(*load.map, load.to, load.at);
  else
    std::memcpy(load.to, load.from, load.bytes);
  ++machine.progress;
  machine.barriers.complete(load.mbarrier, load.bytes);
}

bool Copies::runOne(bool evenLate) {
  if (loads.empty())
    return false;
  size_t from = machine.draw() % loads.size();
  for (size_t k = 0; k < loads.size(); ++k) {
    size_t i = (from + k) % loads.size();
    if (loads[i].late && !evenLate)
      continue;
    land(i);
    return true;
  }
  return false;
}

// ---- stores

Copies::Queue &Copies::queue() {
  Queue &queue = queues[machine.warp()];
  if (queue.thread >= 0 && queue.thread != machine.current)
    machine.fault("bulk stores of two threads of a warp, which the emulator "
                  "does not model");
  queue.thread = machine.current;
  return queue;
}

void Copies::storeTensor(const TensorMap *map, void *from, int rank,
                         const int *at) {
  checkMap(map, rank, from);
  Queue &mine = queue();
  int me = machine.current, warp = machine.warp();
  Store store = {map, (char *)from,        nullptr,
                 {},  int(boxBytes(*map)), mine.groups};
  std::copy(at, at + 5, store.at);
  // What lies outside of the tensor may hold anything.
  eachLine(*map, at, [&](int64_t line, char *, int64_t skip, int64_t bytes) {
    for (int64_t i = skip & -16; i < skip + bytes; i += 16)
      machine.memory.readAsync(
          swizzled((char *)from + line * 128 + i), 16, machine.clocks.known(me),
          machine.clocks.proxied(me), machine.clocks.ofReads(warp),
          mine.groups + 1, "a box's store");
  });
  checkBox(*map, at, machine.clocks.ofWrites(warp), mine.groups + 1);
  mine.stores.push_back(store);
}

void Copies::store(void *to, void *from, int bytes) {
  if (bytes % 16 || (uintptr_t)to % 16 || (uintptr_t)from % 16)
    machine.fault("a copy of %d bytes; size and addresses must be multiples of "
                  "16",
                  bytes);
  Queue &mine = queue();
  int me = machine.current, warp = machine.warp();
  machine.memory.readAsync(
      from, bytes, machine.clocks.known(me), machine.clocks.proxied(me),
      machine.clocks.ofReads(warp), mine.groups + 1, "a bulk store");
  machine.memory.writeGlobal(to, bytes, machine.clocks.ofWrites(warp),
                             mine.groups + 1, "a bulk store");
  mine.stores.push_back(
      {nullptr, (char *)from, (char *)to, {}, bytes, mine.groups});
}

void Copies::runStores(Queue &queue, int below) {
  for (const Store &store : queue.stores)
    if (store.group < below) {
      if (store.map)
        copyOut(*store.map, store.from, store.at);
      else
        std::memcpy(store.to, store.from, store.bytes);
    }
  llvm::erase_if(queue.stores,
                 [&](const Store &store) { return store.group < below; });
}

void Copies::commit() {
  Queue &mine = queues[machine.warp()];
  if (mine.thread >= 0 && mine.thread != machine.current)
    return; // an empty group of another thread
  ++mine.groups;
  if (machine.draw() % 3 == 0)
    runStores(mine, mine.groups);
}

void Copies::waitGroups(int left, bool readOnly) {
  Queue &mine = queues[machine.warp()];
  if (mine.thread != machine.current)
    return; // it has stored nothing
  int done = mine.groups - left, warp = machine.warp();
  if (done <= 0)
    return;
  runStores(mine, done);
  mine.waited = std::max(mine.waited, done);
  int32_t *known = machine.clocks.known(machine.current);
  int32_t &reads = known[machine.clocks.ofReads(warp)];
  int32_t &writes = known[machine.clocks.ofWrites(warp)];
  reads = std::max(reads, done);
  if (!readOnly)
    writes = std::max(writes, done);
}

void Copies::checkEnd() {
  if (!loads.empty())
    machine.fault("the kernel ends with %zu copies to shared memory in flight",
                  loads.size());
  for (const Queue &queue : queues)
    if (!queue.stores.empty() ||
        (queue.thread >= 0 && queue.waited < queue.groups))
      machine.fault("thread %d ends before its bulk stores have read shared "
                    "memory",
                    queue.thread % int(machine.shape.threads));
}
