// The threads of one cluster as fibers, and a scheduler that looks for trouble:
// it draws who runs next and holds a warp group or the copies back for a while.
// Must not know what an instruction does.
#pragma once
#include "compiler/emulate/Barriers.h"
#include "compiler/emulate/Clocks.h"
#include "compiler/emulate/Copies.h"
#include "compiler/emulate/Memory.h"
#include "compiler/emulate/Place.h"
#include "compiler/emulate/Products.h"
#include "compiler/emulate/Warps.h"

#include <cstdarg>
#include <memory>

namespace mille::emulate {

// What a launch's blocks are.
struct BlockShape {
  unsigned threads, cluster;
  size_t sharedBytes;
  unsigned granule; // bytes of shared memory that share a shadow cell
};

enum class Waits { nothing, mbarrier, barrier, cluster, products, warp, end };

struct Thread {
  void *stack = nullptr; // where it stopped
  Waits waits = Waits::nothing;
  int64_t object = 0, value = 0; // what it waits for
  int place = -1;                // of its last instruction
};

class Machine {
public:
  Machine(const BlockShape &shape, const std::vector<Place> &places,
          uint64_t seed);
  ~Machine();
  // Whether memory for all of this was there.
  bool ready() const { return memory.window(0) && stacks; }

  // Runs cluster `number` of `clusters`: `entry(arguments)` in each thread. An
  // empty text, or what went wrong.
  std::string run(void (*entry)(void *), void *arguments, int number,
                  int clusters);

  // Of the thread that runs: what it is in, and who does not get further.
  [[gnu::format(printf, 2, 3)]] void fault(const char *format, ...);
  void wait(Waits what, int64_t object, int64_t value);
  void yieldSometimes(unsigned oneIn) {
    if (draw() % oneIn == 0)
      yield();
  }
  // An instruction of all lanes of a warp begins. False: leave it out.
  bool enter(int place);
  void enterAligned(int place);
  unsigned draw();

  int place() const { return current < 0 ? -1 : threads[current].place; }
  std::string placeText(int place) const;
  int block() const { return current / int(shape.threads); }
  int warp() const { return current / 32; }
  int group() const { return groupOf(current); }
  int groupOf(int thread) const {
    return thread / int(shape.threads) * clocks.groups / int(shape.cluster) +
           thread % int(shape.threads) / 128;
  }
  bool blockIsGone(int block) const;

  const BlockShape shape;
  const std::vector<Place> &places;
  Clocks clocks;
  Memory memory;
  Barriers barriers;
  Copies copies;
  Products products;
  Warps warps;

  int current = -1; // the thread that runs; -1: the scheduler
  int64_t progress = 0;
  int clusterNumber = 0, clusterCount = 1;
  int broken = -1;           // the place that is left out
  std::vector<char> reached; // by place

private:
  void yield();
  void begin(int thread);
  bool canRun(const Thread &thread) const;
  bool step();
  void nobodyRuns();
  void checkEnd();
  std::string deadlock() const;
  std::string describe(const Thread &thread) const;
  static void body();

  std::vector<Thread> threads;
  char *stacks;
  void *scheduler = nullptr;
  void (*entry)(void *) = nullptr;
  void *arguments = nullptr;
  std::string failure;
  uint64_t state;
  int starved = 0, hold = 0;
};

// The machine whose threads run.
extern thread_local Machine *machine;

} // namespace mille::emulate
