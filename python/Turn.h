// One call at a time of a session or a generation. Must not keep Ctrl-C
// waiting for another thread's call, nor wait in a child process for a thread
// that only its parent has.
#pragma once
#include <atomic>
#include <chrono>
#include <mutex>
#include <nanobind/nanobind.h>
#include <unistd.h>

namespace mille_python {

[[noreturn]] void refuse(const std::string &sentence);

// The run of a session that calls of several threads wait for.
struct Running {
  std::timed_mutex lock;
  std::atomic<pid_t> process{0}; // of the call that has the turn
};

class Turn {
public:
  // With the interpreter's lock held, which is let go of while this waits.
  // Ctrl-C ends the wait of the main thread; a destructor cannot throw, and
  // asks for a wait to the end.
  explicit Turn(Running &running, bool interruptible = true)
      : running(running) {
    int strange = 0;
    bool mine = running.lock.try_lock();
    while (!mine) {
      mine = wait();
      // A call that has just got the turn has not written its process yet.
      strange = running.process == getpid() ? 0 : strange + 1;
      if (!mine && strange == mostStrange)
        refuse("another thread of the parent process was in a run when it was "
               "forked: load the package again in this process");
      if (!mine && interruptible && PyErr_CheckSignals() != 0)
        throw nanobind::python_error();
    }
    running.process = getpid();
  }
  ~Turn() { running.lock.unlock(); }
  Turn(const Turn &) = delete;

private:
  static constexpr int mostStrange = 20; // a second

  bool wait() {
    nanobind::gil_scoped_release released;
    return running.lock.try_lock_for(std::chrono::milliseconds(50));
  }

  Running &running;
};

} // namespace mille_python
