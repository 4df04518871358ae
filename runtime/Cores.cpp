// A thread's affinity, by system calls. Must not widen what the application
// set.
#include "runtime/Cores.h"

namespace mille {

void Cores::leave(int core) {
  cpu_set_t cores;
  if (core < 0 || core >= CPU_SETSIZE ||
      sched_getaffinity(0, sizeof cores, &cores))
    return;
  if (left >= 0 && CPU_EQUAL(&cores, &kept))
    CPU_SET(left, &cores);
  CPU_CLR(core, &cores);
  if (!CPU_COUNT(&cores) || sched_setaffinity(0, sizeof cores, &cores))
    return;
  kept = cores;
  left = core;
}

} // namespace mille
