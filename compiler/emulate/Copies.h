// Copies that run beside the threads: boxes of tensors, bytes in a row, and
// between the blocks of a cluster. They land late and in any order.
#pragma once
#include "compiler/emulate/Clocks.h"

#include <cstddef>
#include <vector>

namespace mille::emulate {

class Machine;

// What a kernel's argument of 128 bytes stands for; dimension 0 is the
// innermost. A line of a box has 128 bytes, and lines are swizzled.
struct TensorMap {
  char *base;
  int elementBytes, rank;
  int64_t extent[5], stride[5]; // strides in bytes
  int box[5];
};

class Copies {
public:
  explicit Copies(Machine &machine) : machine(machine) {}
  void setMaps(const std::vector<TensorMap> *all) { maps = all; }
  void restart();
  void checkEnd();

  // mask: the blocks of the cluster that get the box, each at the same offset;
  // negative: the block that `to` is in.
  void loadTensor(void *to, const TensorMap *map, void *mbarrier, int mask,
                  int rank, const int *at);
  void storeTensor(const TensorMap *map, void *from, int rank, const int *at);
  void load(void *to, void *from, void *mbarrier, int bytes, int mask);
  void store(void *to, void *from, int bytes);
  void send(void *to, void *from, void *mbarrier, int bytes);
  void commit();
  void waitGroups(int left, bool readOnly);

  // Lets one copy land. Late ones land when nobody else can do anything.
  bool runOne(bool evenLate);

private:
  struct Load {
    const TensorMap *map; // null: `bytes` from `from`
    char *to, *from;
    int at[5], bytes, mbarrier;
    bool late, between; // between blocks
  };
  struct Store {
    const TensorMap *map; // null: `bytes` to `to`
    char *from, *to;
    int at[5], bytes, group;
  };
  struct Queue { // of the bulk stores of a warp
    int thread = -1, groups = 0, waited = 0;
    std::vector<Store> stores;
  };

  void checkMap(const TensorMap *map, int rank, const void *shared);
  bool checkBox(const TensorMap &map, const int *at, int slot, int clock);
  void issue(Load load, void *mbarrier, const char *what);
  void eachBlock(int mask, void *to, void *mbarrier, const Load &load,
                 const char *what);
  Queue &queue();
  void runStores(Queue &queue, int below);
  void land(size_t index);

  Machine &machine;
  const std::vector<TensorMap> *maps = nullptr;
  std::vector<Load> loads;
  std::vector<Queue> queues;
};

} // namespace mille::emulate
