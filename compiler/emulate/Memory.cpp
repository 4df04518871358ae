// Shadow cells of shared memory, and the writers of global memory. Must not
// copy data.
#include "compiler/emulate/Memory.h"
#include "compiler/emulate/Machine.h"

#include <cstring>
#include <sys/mman.h>

using namespace mille::emulate;

Memory::Memory(Machine &machine, unsigned cluster, size_t sharedBytes,
               unsigned granule)
    : machine(machine), blocks(cluster), sharedBytes(sharedBytes),
      granule(granule), cells(cluster * sharedWindow / granule) {
  mappedBytes = (cluster + 1) * sharedWindow;
  // Below 2 GB: a kernel may keep an address in 32 bits.
  void *memory =
      mmap(nullptr, mappedBytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_32BIT, -1, 0);
  mapped = memory == MAP_FAILED ? nullptr : (char *)memory;
  base = (char *)(((uintptr_t)mapped + sharedWindow - 1) & -sharedWindow);
}

Memory::~Memory() {
  if (mapped)
    munmap(mapped, mappedBytes);
}

void Memory::setRegions(std::vector<Region> all) {
  regions = std::move(all);
  written.clear();
  published.clear();
  for (const Region &region : regions)
    written.emplace_back(region.bytes / 2 + 1,
                         GlobalCell{region.written ? 0 : -1, 0, 0});
}

void Memory::restart(int cluster) {
  ++epoch;
  clusterNow = cluster + 1;
  waited.assign(machine.clocks.threads, false);
  acquired.clear();
  fenced.assign(machine.clocks.threads, {});
  for (unsigned block = 0; block < blocks; ++block)
    std::memset(window(block), 0xff, (sharedBytes + 1023) & ~1023); // NaN
}

int64_t Memory::offset(const void *address, int64_t bytes, const char *what) {
  int64_t at = (const char *)address - base;
  if (!isShared(address))
    machine.fault("%s at an address that is not in shared memory", what);
  else if (at % sharedWindow + bytes > sharedBytes)
    machine.fault("%s of %ld bytes at +%ld, but a block has %zu bytes of "
                  "shared memory",
                  what, (long)bytes, long(at % sharedWindow), sharedBytes);
  else
    return at;
  return 0;
}

Memory::Cell &Memory::cell(int64_t offset) {
  Cell &cell = cells[offset / granule];
  if (cell.epoch != epoch) {
    cell = Cell();
    cell.epoch = epoch;
  }
  return cell;
}

std::string Memory::who(int slot, int place) const {
  Clocks &clocks = machine.clocks;
  int perBlock = machine.shape.threads;
  std::string text;
  if (clocks.isThread(slot))
    text = "thread " + std::to_string(slot % perBlock);
  else if (clocks.isProducts(slot))
    text = "products of warp group " +
           std::to_string((slot - clocks.threads) % ((perBlock + 127) / 128));
  else if (clocks.isBarrier(slot))
    text = "a copy";
  else
    text = "a bulk store";
  return text + machine.placeText(place);
}

void Memory::checkWrite(Cell &cell, int64_t offset, const char *what) {
  const int32_t *known = machine.clocks.known(machine.current);
  for (const Reader &reader : cell.readers)
    if (known[reader.slot] < reader.clock)
      machine.fault("%s at +%ld overwrites what %s may still read", what,
                    long(offset % sharedWindow),
                    who(reader.slot, reader.place).c_str());
  if (cell.written && known[cell.writer] < cell.clock)
    machine.fault("%s at +%ld is not ordered after the write by %s", what,
                  long(offset % sharedWindow),
                  who(cell.writer, cell.place).c_str());
}

void Memory::checkRead(Cell &cell, int64_t offset, const int32_t *known,
                       const int32_t *proxied, const char *what, bool async) {
  long at = offset % sharedWindow;
  if (!cell.written)
    machine.fault("%s reads +%ld, which was never written", what, at);
  else if (known[cell.writer] < cell.clock)
    machine.fault("%s reads +%ld before anything orders the write by %s", what,
                  at, who(cell.writer, cell.place).c_str());
  else if (async && cell.generic && proxied[cell.writer] < cell.clock)
    machine.fault("%s reads +%ld without fence.proxy after the store by %s",
                  what, at, who(cell.writer, cell.place).c_str());
}

// Readers that this one is ordered after need no entry of their own.
void Memory::addReader(Cell &cell, const int32_t *known, int slot, int clock) {
  llvm::erase_if(cell.readers, [&](const Reader &reader) {
    return reader.slot == slot || known[reader.slot] >= reader.clock;
  });
  cell.readers.push_back({slot, clock, machine.place()});
}

void Memory::readAsync(const void *address, int64_t bytes, const int32_t *known,
                       const int32_t *proxied, int slot, int clock,
                       const char *what) {
  int64_t from = offset(address, bytes, what);
  for (int64_t at = from & -granule; at < from + bytes; at += granule) {
    Cell &one = cell(at);
    checkRead(one, at, known, proxied, what, true);
    addReader(one, known, slot, clock);
  }
}

void Memory::writeAsync(void *address, int64_t bytes, int slot, int clock,
                        const char *what) {
  int64_t from = offset(address, bytes, what);
  const int32_t *proxied = machine.clocks.proxied(machine.current);
  for (int64_t at = from & -granule; at < from + bytes; at += granule) {
    Cell &one = cell(at);
    checkWrite(one, at, what);
    if (one.written && one.generic && proxied[one.writer] < one.clock)
      machine.fault("%s at +%ld without fence.proxy after the store by %s",
                    what, long(at % sharedWindow),
                    who(one.writer, one.place).c_str());
    one.readers.clear();
    one.writer = slot;
    one.clock = clock;
    one.place = machine.place();
    one.generic = false;
    one.written = true;
  }
}

void Memory::access(void *address, int64_t bytes, int kind, int space) {
  static const char *const names[] = {"a load", "a store", "an atomic"};
  const char *what = names[kind];
  int me = machine.current;
  int32_t *known = machine.clocks.known(me);
  if (!isShared(address)) {
    bool isGlobal = space == 1;
    for (const Region &region : regions)
      isGlobal |=
          address >= region.base && address < region.base + region.bytes;
    if (space == 3 || space == 7)
      machine.fault("%s at an address that is not in shared memory", what);
    if (!isGlobal)
      return;                                        // the thread's own
    if (kind == 2 && regionOf(address, bytes, what)) // ordered by itself
      atomicGlobal(address);
    else if (kind == 2)
      return;
    else if (kind == 1)
      writeGlobal(address, bytes, me, known[me], what);
    else
      readGlobal(address, bytes, what);
    return;
  }
  int64_t from = offset(address, bytes, what);
  for (int64_t at = from & -granule; at < from + bytes; at += granule) {
    Cell &one = cell(at);
    if (kind == 0) {
      checkRead(one, at, known, nullptr, what, false);
      addReader(one, known, me, known[me]);
      continue;
    }
    if (kind == 1)
      checkWrite(one, at, what);
    one.readers.clear();
    one.writer = me;
    one.clock = kind == 2 ? 0 : known[me];
    one.place = machine.place();
    one.generic = one.written = true;
  }
}

Region *Memory::regionOf(const void *address, int64_t bytes, const char *what) {
  for (Region &region : regions)
    if (address >= region.base &&
        (const char *)address + bytes <= region.base + region.bytes)
      return &region;
  for (const Region &region : regions)
    if (address >= region.base - 4096 &&
        address < region.base + region.bytes + 4096) {
      machine.fault("%s of %ld bytes at byte %ld of %s, which has %zu bytes",
                    what, (long)bytes,
                    long((const char *)address - region.base),
                    region.name.c_str(), region.bytes);
      return nullptr;
    }
  machine.fault("%s at an address that is in no buffer", what);
  return nullptr;
}

void Memory::seeEarlierKernels() { waited[machine.current] = true; }

bool Memory::checkEarlier(const Region &region, const char *what) {
  if (!overlaps || waited[machine.current])
    return true;
  machine.fault("%s of %s before a wait for the kernels before this one", what,
                region.name.c_str());
  return false;
}

void Memory::fenceDevice() {
  const int me = machine.current;
  const int32_t *known = machine.clocks.known(me);
  fenced[me].known.assign(known, known + machine.clocks.slots);
  if (fenced[me].atomic)
    acquired.push_back({me, known[me], fenced[me].atomic});
}

void Memory::atomicGlobal(const void *address) {
  Fenced &own = fenced[machine.current];
  own.atomic = address;
  if (!own.known.empty())
    published.push_back({clusterNow, address, own.known});
}

bool Memory::isAcquired(const GlobalCell &cell, const int32_t *known) const {
  for (const Acquired &by : acquired)
    if (known[by.slot] >= by.clock)
      for (const Published &of : published)
        if (of.address == by.address && of.cluster == cell.cluster &&
            of.known[cell.slot] >= cell.clock)
          return true;
  return false;
}

bool Memory::readGlobal(const void *address, int64_t bytes, const char *what) {
  Region *region = regionOf(address, bytes, what);
  if (!region || (!region->weights && !checkEarlier(*region, what)))
    return false;
  const int32_t *known = machine.clocks.known(machine.current);
  std::vector<GlobalCell> &all = written[region - regions.data()];
  int64_t from = (const char *)address - region->base;
  for (int64_t at = from & -2; at < from + bytes; at += 2) {
    const GlobalCell &one = all[at / 2];
    if (one.cluster == 0 ||
        (one.cluster == clusterNow && known[one.slot] >= one.clock) ||
        (one.cluster > 0 && one.cluster != clusterNow &&
         isAcquired(one, known)))
      continue;
    if (one.cluster < 0)
      machine.fault("%s reads byte %ld of %s, which was never written", what,
                    (long)at, region->name.c_str());
    else
      machine.fault("%s reads byte %ld of %s before anything orders the write "
                    "of cluster %d",
                    what, (long)at, region->name.c_str(), one.cluster - 1);
    return false;
  }
  return true;
}

bool Memory::writeGlobal(const void *address, int64_t bytes, int slot,
                         int clock, const char *what) {
  Region *region = regionOf(address, bytes, what);
  if (!region || !checkEarlier(*region, what))
    return false;
  const int32_t *known = machine.clocks.known(machine.current);
  std::vector<GlobalCell> &all = written[region - regions.data()];
  int64_t from = (const char *)address - region->base;
  for (int64_t at = from & -2; at < from + bytes; at += 2) {
    GlobalCell &one = all[at / 2];
    if (one.cluster > 0 &&
        (one.cluster != clusterNow ||
         (one.slot != slot && known[one.slot] < one.clock))) {
      machine.fault("%s at byte %ld of %s is not ordered after the write of "
                    "cluster %d",
                    what, (long)at, region->name.c_str(), one.cluster - 1);
      return false;
    }
    one = {clusterNow, slot, clock};
  }
  return true;
}
