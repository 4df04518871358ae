// Prints when a pool's threads yield their core: this program replaces
// sched_yield.
#include "runtime/Clock.h"
#include "runtime/Pool.h"

#include <atomic>
#include <cstdio>
#include <sched.h>

using namespace mille;

namespace {

constexpr int64_t us = 1000, ms = 1000 * us;
constexpr int64_t tasks = 40, others = 10;

std::atomic<int> given{0}, givenInTask{0}, givenByCaller{0}, done{0};
thread_local bool inTask = false, isCaller = false;

// The caller's tasks wait until the other thread has done some of its own.
void task(void *, int64_t, int thread) {
  inTask = true;
  if (thread == 0)
    while (done < others) {
    }
  const int64_t end = nanosecondsOf(CLOCK_MONOTONIC) + 300 * us;
  while (nanosecondsOf(CLOCK_MONOTONIC) < end) {
  }
  done += thread != 0;
  inTask = false;
}

} // namespace

extern "C" int sched_yield() {
  ++given;
  givenInTask += inTask;
  givenByCaller += isCaller;
  return 0;
}

int main() {
  static Pool pool;
  isCaller = true;
  if (int error = pool.start(2)) {
    printf("no thread: %d\n", error);
    return 1;
  }
  const int64_t began = nanosecondsOf(CLOCK_MONOTONIC);
  pool.run(task, nullptr, tasks);
  const int most = int((nanosecondsOf(CLOCK_MONOTONIC) - began) / ms) + 1;
  pool.stop();
  const bool often = given >= 2 && given <= most;
  printf("%s, in a task %d, by the caller %d\n",
         often ? "each millisecond at most" : "too often or never",
         givenInTask.load(), givenByCaller.load());
}
