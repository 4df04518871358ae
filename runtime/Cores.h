// The cores that a pool's thread may use, of which it leaves one: its caller's.
// Must not know what a pool does.
#pragma once
#include <sched.h>

namespace mille {

// Of one thread, which alone calls it.
class Cores {
public:
  // From now on the thread is not on `core`, but may be again on the one that
  // it left before. Nothing happens where it may use no other core, or where
  // the system refuses. What the application chose for this thread in the
  // meantime stands.
  void leave(int core);

private:
  cpu_set_t kept; // where left >= 0: without `left`
  int left = -1;
};

} // namespace mille
