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

  // Starts threads - 1 threads. Returns 0, or the system's error number.
  int start(int threads);
  void stop();

  // Runs tasks 0 .. count - 1 on this and the pool's threads; returns when all
  // are done.
  void run(Function function, void *context, int64_t count);

private:
  struct Start {
    Pool *pool;
    int thread;
    int64_t since; // when it last got its core, as far as it knows
    Cores cores;
  };
  static void *enter(void *start);
  // So many tasks have tickets at once: less than a ticket can count.
  static constexpr int64_t mostTickets = 1 << 20;
  void runSome(int64_t first, int64_t count);
  void work(int me);
  bool isTurnOver(int me) const; // a millisecond has passed
  void giveWay(int me); // the thread holds no task, and has counted all
  void leaveCaller(int me);
  void drain(int me);
  void addDone(uint32_t finished);
  void wait(int64_t count);
  bool left(int thread) const;
  bool pending() const;

  // Each thread has a range of tasks and a ticket, end:24 | index:24, so that
  // the same rows or columns stay on the same core; other threads steal what is
  // left. A thread that draws an index below `end` owns that task. The job
  // cannot end before the task does, so the job's fields are stable while they
  // are read. The job counts finished tasks, not workers: the caller waits for
  // a worker that the system has suspended only while that worker holds a task,
  // or has not yet counted its tasks of the range it is in.
  struct alignas(64) Ticket {
    Atomic<uint64_t> word;
  };
  Ticket tickets[maxThreads];
  alignas(64) Atomic<uint32_t> done;
  Atomic<uint32_t> waiting; // 1 while the caller sleeps on done
  alignas(64) Atomic<uint32_t> epoch;
  alignas(64) Atomic<uint32_t> sleepers;
  alignas(64) Atomic<uint32_t> stopping;
  Function function = nullptr;
  void *context = nullptr;
  int64_t first = 0; // the task of ticket 0
  Atomic<int> core;  // the caller's, when the job began
  int threads = 1;
  Start starts[maxThreads];
  pthread_t handles[maxThreads];
};

} // namespace mille
