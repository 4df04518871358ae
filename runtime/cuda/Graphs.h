// CUDA graphs of a session's runs: one for each list of commands that came
// twice, up to a few, of which the one not used for longest makes room.
// Must not allocate after `make`, but for what the driver takes for a graph.
#pragma once
#include "runtime/abi.h"
#include "runtime/cuda/Commands.h"

namespace mille::cuda {

// What a run's list of commands follows from, where no padding was removed.
struct RunKey {
  const void *entry; // null: its list must be made to be known
  int64_t sizes[MILLE_MAX_SIZES];
  uint64_t given; // bytes that the host's steps give
};

class Graphs {
public:
  bool make(const Memory &memory, uint64_t commandBytes);
  void release(const Memory &memory, const Library &cuda);

  struct Slot {
    char *bytes = nullptr; // of the commands
    uint64_t size = 0;     // 0: not used
    uint64_t lastRun = 0;
    CUgraphExec graph = nullptr; // null: they came once
    RunKey key = {};             // of the run that made the graph
  };

  // Executes the commands: as a graph from the second time on.
  CUresult run(const Library &cuda, const Commands &commands, CUstream stream,
               const RunKey &key);
  // The graph of an earlier run of this key but for what it gives, whose
  // commands need not be made again; null: there is none.
  Slot *find(const RunKey &key);
  CUresult launch(const Library &cuda, Slot &slot, CUstream stream);

private:
  static constexpr int slots = 8;
  Slot *find(const Commands &commands);
  Slot &oldest();
  CUresult capture(const Library &cuda, const Commands &commands,
                   CUstream stream, Slot &slot);

  Slot known[slots];
  uint64_t room = 0, runs = 0;
  char *memory = nullptr;
};

} // namespace mille::cuda
