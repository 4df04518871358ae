// A pool of threads for one session: runs numbered tasks, one job at a time.
// Must not know what a task does, and allocates nothing.
#pragma once
#include "runtime/Atomic.h"
#include "runtime/Cores.h"

#include <pthread.h>

namespace mille {

constexpr int maxThreads = 64;

class Pool {
public:
  using Function = void (*)(void *context, int64_t task, int thread);

  // Starts threads - 1 threads. 0, or the error number of the system.
  int start(int threads);
  void stop();

  // Runs tasks 0 .. count - 1 on this and the pool's threads; returns when all
  // are done. count < 2^20.
  void run(Function function, void *context, int64_t count);

private:
  struct Start {
    Pool *pool;
    int thread;
    int64_t since; // it has had its core, as far as it knows
    Cores cores;
  };
  static void *enter(void *start);
  void work(int me);
  bool isTurnOver(int me) const; // each millisecond
  void giveWay(int me); // of a thread that holds no task, and none uncounted
  void leaveCaller(int me);
  void drain(int me);
  void addDone(uint32_t finished);
  void wait(int64_t count);
  bool left(int thread) const;
  bool pending() const;

  // Tickets end:24 | index:24 of a thread's own range: the same rows or columns
  // stay on the same core; what is left over others steal. Who draws an index
  // below end owns that task, and the job cannot end before it, so the job's
  // fields are stable while they are read. Finished tasks are counted, not
  // workers: a worker that the system has put aside is waited for only while it
  // holds a task, or has not counted those of the range it is in.
  struct alignas(64) Ticket {
    Atomic<uint64_t> word;
  };
  Ticket tickets[maxThreads];
  alignas(64) Atomic<uint32_t> done;
  Atomic<uint32_t> waiting; // the caller sleeps on done
  alignas(64) Atomic<uint32_t> epoch;
  alignas(64) Atomic<uint32_t> sleepers;
  alignas(64) Atomic<uint32_t> stopping;
  Function function = nullptr;
  void *context = nullptr;
  Atomic<int> core; // of the caller, when the job began
  int threads = 1;
  Start starts[maxThreads];
  pthread_t handles[maxThreads];
};

} // namespace mille
