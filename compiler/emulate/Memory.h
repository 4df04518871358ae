// The memory that a kernel sees, and for each piece of it who wrote and read it
// last, so that an access that nothing orders is reported whatever the data.
#pragma once
#include "compiler/emulate/Clocks.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mille::emulate {

class Machine;

// A buffer in global memory.
struct Region {
  std::string name;
  char *base;
  size_t bytes;
  bool written; // it has content before the launch
  bool weights; // no kernel writes it
};

// Shared memory of a block begins at a multiple of this, so that the low bits
// of an address are the offset, as on the device.
constexpr size_t sharedWindow = 1 << 18;

class Memory {
public:
  Memory(Machine &machine, unsigned cluster, size_t sharedBytes,
         unsigned granule);
  ~Memory();
  // Of a launch, then of each cluster.
  void setRegions(std::vector<Region> regions);
  void restart(int cluster);

  char *window(int block) const { return base + block * sharedWindow; }
  bool isShared(const void *address) const {
    return address >= base && address < base + blocks * sharedWindow;
  }
  int blockOf(const void *address) const {
    return int(((const char *)address - base) / sharedWindow);
  }
  // The offset in all windows; a fault where `bytes` are not in one block's
  // shared memory.
  int64_t offset(const void *address, int64_t bytes, const char *what);

  // Ordinary loads and stores; kind: 0 load, 1 store, 2 atomic.
  void access(void *address, int64_t bytes, int kind, int space);
  // A fence of the device. What a thread knows at it is published by its next
  // atomic, and after one a thread knows what others published there before.
  void fenceDevice();

  // What the asynchronous proxy does with shared memory: a read on behalf of
  // `slot` at `clock`, by what `known` and `proxied` say; a write.
  void readAsync(const void *address, int64_t bytes, const int32_t *known,
                 const int32_t *proxied, int slot, int clock, const char *what);
  void writeAsync(void *address, int64_t bytes, int slot, int clock,
                  const char *what);
  // And with global memory. False after a fault.
  bool readGlobal(const void *address, int64_t bytes, const char *what);
  bool writeGlobal(const void *address, int64_t bytes, int slot, int clock,
                   const char *what);
  // This thread waited for the kernels before this one. Where a launch does not
  // overlap with them, no thread has to.
  void seeEarlierKernels();
  void setOverlaps(bool does) { overlaps = does; }

private:
  struct Reader {
    int32_t slot, clock, place;
  };
  struct Cell {
    int32_t epoch = 0, writer = 0, clock = 0, place = -1;
    bool generic = false, written = false;
    llvm::SmallVector<Reader, 2> readers;
  };
  struct GlobalCell {
    int32_t cluster, slot, clock; // cluster: -1 never written, 0 before
  };

  // What a cluster's atomic at an address published.
  struct Published {
    int32_t cluster;
    const void *address;
    Clock known;
  };
  // A thread that has seen, by an atomic and a fence, what was published.
  struct Acquired {
    int32_t slot, clock;
    const void *address;
  };
  struct Fenced {
    Clock known;                  // at its last fence; empty: none
    const void *atomic = nullptr; // the last one
  };

  void atomicGlobal(const void *address);
  bool isAcquired(const GlobalCell &cell, const int32_t *known) const;
  Cell &cell(int64_t offset);
  void checkWrite(Cell &cell, int64_t offset, const char *what);
  void checkRead(Cell &cell, int64_t offset, const int32_t *known,
                 const int32_t *proxied, const char *what, bool async);
  void addReader(Cell &cell, const int32_t *known, int slot, int clock);
  bool checkEarlier(const Region &region, const char *what);
  Region *regionOf(const void *address, int64_t bytes, const char *what);
  std::string who(int slot, int place) const;

  Machine &machine;
  const unsigned blocks;
  const size_t sharedBytes;
  const int64_t granule;
  char *base, *mapped;
  size_t mappedBytes;
  int32_t epoch = 0, clusterNow = 0;
  std::vector<Cell> cells;
  std::vector<Region> regions;
  bool overlaps = false;
  std::vector<char> waited;                     // of a thread
  std::vector<std::vector<GlobalCell>> written; // per 2 bytes
  std::vector<Published> published;
  std::vector<Acquired> acquired; // of the cluster
  std::vector<Fenced> fenced;     // of its threads
};

} // namespace mille::emulate
