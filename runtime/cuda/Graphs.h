// CUDA graphs of a session's runs: one for each list of commands that came
// twice, up to a few, of which the one not used for longest makes room.
// Must not allocate after `make`, but for what the driver takes for a graph.
#pragma once
#include "runtime/cuda/Commands.h"

namespace mille::cuda {

class Graphs {
public:
  bool make(const Memory &memory, uint64_t commandBytes);
  void release(const Memory &memory, const Library &cuda);

  // Executes the commands: as a graph from the second time on.
  CUresult run(const Library &cuda, const Commands &commands, CUstream stream);

private:
  static constexpr int slots = 8;
  struct Slot {
    char *bytes = nullptr; // of the commands
    uint64_t size = 0;     // 0: not used
    uint64_t lastRun = 0;
    CUgraphExec graph = nullptr; // null: they came once
  };
  Slot *find(const Commands &commands);
  Slot &oldest();
  CUresult capture(const Library &cuda, const Commands &commands,
                   CUstream stream, Slot &slot);

  Slot known[slots];
  uint64_t room = 0, runs = 0;
  char *memory = nullptr;
};

} // namespace mille::cuda
