// Prints which cores a pool's thread takes: this program replaces the calls
// that say where a thread runs and may run.
#include "runtime/Pool.h"

#include <atomic>
#include <cstdio>
#include <sched.h>
#include <unistd.h>

using namespace mille;

namespace {

constexpr int cores = 4;
thread_local bool isCaller = false;
std::atomic<int> callersCore{0}, callersChanges{0};
std::atomic<unsigned> allowed{0},
    changes{0}; // the other thread's, a bit for a core
std::atomic<bool> refuses{false}, seen{false};

int firstOf(unsigned mask) { return __builtin_ctz(mask); }

// The caller waits until the other thread has had a task.
void task(void *, int64_t, int thread) {
  if (thread == 0)
    while (!seen) {
    }
  seen = true;
}

// Prints what the other thread does when it is on the caller's core.
void meet(Pool &pool, const char *what, int core) {
  usleep(10000); // it has left the job before
  callersCore = core;
  seen = false;
  changes = 0;
  pool.run(task, nullptr, 2);
  printf("%s: may use", what);
  for (int i = 0; i < cores; ++i)
    if (allowed >> i & 1)
      printf(" %d", i);
  printf(", %u changes\n", changes.load());
}

} // namespace

extern "C" int sched_getcpu() noexcept {
  if (isCaller)
    return callersCore;
  // If the thread may run on the caller's core, the system moves it there.
  unsigned mask = allowed;
  return mask >> callersCore & 1 ? callersCore.load() : firstOf(mask);
}

extern "C" int sched_getaffinity(pid_t, size_t, cpu_set_t *set) noexcept {
  CPU_ZERO(set);
  for (int i = 0; i < cores; ++i)
    if (allowed >> i & 1)
      CPU_SET(i, set);
  return 0;
}

extern "C" int sched_setaffinity(pid_t, size_t, const cpu_set_t *set) noexcept {
  callersChanges += isCaller;
  ++changes;
  if (refuses)
    return -1;
  unsigned mask = 0;
  for (int i = 0; i < cores; ++i)
    mask |= (CPU_ISSET(i, set) ? 1u : 0u) << i;
  allowed = mask;
  return 0;
}

int main() {
  static Pool pool;
  isCaller = true;
  allowed = 0b1110;
  callersCore = 0; // nobody's, until the first job
  if (int error = pool.start(2)) {
    printf("no thread: %d\n", error);
    return 1;
  }
  meet(pool, "elsewhere", 0);
  refuses = true;
  meet(pool, "refused", 1);
  refuses = false;
  meet(pool, "met", 1);
  meet(pool, "apart", 1);
  meet(pool, "met again", 2);
  allowed = 0b0110; // the application's choice
  meet(pool, "chosen", 1);
  allowed = 0b0001;
  meet(pool, "no other", 0);
  pool.stop();
  printf("the caller's: %d changes\n", callersChanges.load());
}
