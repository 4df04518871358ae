// The affinity of one thread, from which it takes out one core: that of the
// run's caller. Must not know what a pool does.
#pragma once
#include <sched.h>

namespace mille {

// Belongs to one thread; no other thread may call it.
class Cores {
public:
  // Takes `core` out of the thread's affinity and puts the core of the last
  // call back. It does nothing where the thread may use no other core, or where
  // the system refuses. Where the application has set an affinity since the
  // last call, that affinity is the starting point.
  void leave(int core);

private:
  cpu_set_t kept; // the affinity without `left`, where left >= 0
  int left = -1;  // the core that was taken out, -1: none
};

} // namespace mille
