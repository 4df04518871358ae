// Threads spin for a while, then sleep; they draw tickets of their own range,
// then steal others'. Must not wait for a thread that holds no task.
#include "runtime/Pool.h"
#include "runtime/Clock.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mille {

namespace {
constexpr int endShift = 24;
constexpr uint64_t indexMask = (1u << endShift) - 1;
constexpr int spins = 20000; // about 0.3 ms, longer than from launch to launch
constexpr int64_t turn = 1000000; // 1 ms: a time slice of the system is 3 or 4
constexpr size_t stackBytes = 1 << 20;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

void futexWait(Atomic<uint32_t> &word, uint32_t expected) {
  syscall(SYS_futex, word.address(), FUTEX_WAIT_PRIVATE, expected, 0, 0, 0);
}

void futexWake(Atomic<uint32_t> &word) {
  syscall(SYS_futex, word.address(), FUTEX_WAKE_PRIVATE, maxThreads, 0, 0, 0);
}
} // namespace

bool Pool::left(int thread) const {
  uint64_t ticket = tickets[thread].word.acquire();
  return (ticket & indexMask) < (ticket >> endShift);
}

bool Pool::pending() const {
  for (int thread = 0; thread < threads; ++thread)
    if (left(thread))
      return true;
  return false;
}

bool Pool::isTurnOver(int me) const {
  return nanosecondsOf(CLOCK_MONOTONIC) - starts[me].since >= turn;
}

// Yields the core while this thread holds no task. Otherwise the system would
// soon give the core to another process in the middle of a task, and the caller
// would wait for it. (Two threads, tasks of 0.03 to 0.4 ms, one core busy: 0.9
// of one thread's time, where it was 1.1; both cores busy: 0.6.)
void Pool::giveWay(int me) {
  sched_yield();
  starts[me].since = nanosecondsOf(CLOCK_MONOTONIC);
}

// Moves this thread off its caller's core. Where another process keeps a core
// busy the system's load balancer puts both threads on the caller's core, where
// they alternate. (BERT-base in f32 on two threads, one of two cores busy: 0.9
// of one thread's speed on one core, 1.3 on two.)
void Pool::leaveCaller(int me) {
  int callers = core.relaxed();
  if (sched_getcpu() == callers)
    starts[me].cores.leave(callers);
}

void Pool::drain(int me) {
  if (me)
    leaveCaller(me);
  for (int i = 0, from = me; i < threads; ++i) {
    uint32_t finished = 0;
    while (left(from)) {
      if (me && isTurnOver(me)) {
        addDone(finished);
        finished = 0;
        giveWay(me);
        leaveCaller(me);
      }
      uint64_t ticket = tickets[from].word.add(1);
      uint64_t index = ticket & indexMask;
      if (index >= (ticket >> endShift))
        break;
      function(context, first + (int64_t)index, me);
      ++finished;
    }
    addDone(finished);
    from = from + 1 == threads ? 0 : from + 1;
  }
}

// Counts several finished tasks at once, since all threads write one cache
// line: counting each task alone made BERT-base in int8 take 2 % longer with
// two threads of a Xeon with AMX.
void Pool::addDone(uint32_t finished) {
  if (!finished)
    return;
  done.add(finished);
  if (waiting.load())
    futexWake(done);
}

void Pool::work(int me) {
  for (int idle = 0;;) {
    uint32_t seen = epoch.load();
    if (stopping.load())
      return;
    if (pending()) {
      drain(me);
      idle = 0;
      continue;
    }
    if (++idle < spins) {
      pause();
      continue;
    }
    // The caller increments epoch before it reads sleepers. So either it sees
    // this sleeper, or the wait sees the new epoch.
    sleepers.add(1);
    if (!pending() && !stopping.load())
      futexWait(epoch, seen);
    sleepers.add(-1u);
    starts[me].since = nanosecondsOf(CLOCK_MONOTONIC);
    idle = 0;
  }
}

void *Pool::enter(void *start) {
  auto *self = static_cast<Start *>(start);
  self->pool->work(self->thread);
  return nullptr;
}

int Pool::start(int count) {
  // Workers share ranges among `threads`, so it is set before the first worker
  // starts. A pool that could not start all of them is stopped and never used.
  threads = count;
  int started = 1, error = 0;
  pthread_attr_t attributes;
  if ((error = pthread_attr_init(&attributes)))
    return error;
  pthread_attr_setstacksize(&attributes, stackBytes);
  // Workers block all signals, for the application's threads handle them; but
  // those that a thread's own instruction raises would end the process past the
  // application's handlers, as where a file of weights is cut.
  sigset_t others, before;
  sigfillset(&others);
  const int raised[] = {SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
  for (int own : raised)
    sigdelset(&others, own);
  pthread_sigmask(SIG_SETMASK, &others, &before);
  for (; started < count; ++started) {
    starts[started] = {this, started, 0, {}};
    error =
        pthread_create(&handles[started], &attributes, enter, &starts[started]);
    if (error)
      break;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error) {
    stopping.store(1);
    epoch.add(1);
    futexWake(epoch);
    while (--started > 0)
      pthread_join(handles[started], nullptr);
    threads = 1;
  }
  return error;
}

void Pool::stop() {
  stopping.store(1);
  epoch.add(1);
  futexWake(epoch);
  for (int thread = 1; thread < threads; ++thread)
    pthread_join(handles[thread], nullptr);
  threads = 1;
}

void Pool::run(Function what, void *with, int64_t count) {
  if (threads == 1 || count < 2) {
    for (int64_t task = 0; task < count; ++task)
      what(with, task, 0);
    return;
  }
  // No thread holds a ticket here: every task of the last job is done.
  function = what;
  context = with;
  for (int64_t begin = 0; begin < count; begin += mostTickets)
    runSome(begin, count - begin < mostTickets ? count - begin : mostTickets);
}

void Pool::runSome(int64_t begin, int64_t count) {
  first = begin;
  core.set(sched_getcpu());
  done.set(0);
  for (int thread = 0; thread < threads; ++thread) {
    uint64_t first = (uint64_t)count * thread / threads;
    uint64_t end = (uint64_t)count * (thread + 1) / threads;
    tickets[thread].word.release(end << endShift | first);
  }
  epoch.add(1);
  if (sleepers.load())
    futexWake(epoch);
  drain(0);
  wait(count);
}

void Pool::wait(int64_t count) {
  for (int spun = 0; done.acquire() < (uint32_t)count;) {
    if (++spun < spins) {
      pause();
      continue;
    }
    waiting.store(1);
    uint32_t seen = done.load();
    if (seen < (uint32_t)count)
      futexWait(done, seen);
    waiting.store(0);
  }
}

} // namespace mille
