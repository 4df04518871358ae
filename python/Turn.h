// One call at a time of a session or a generation. Must not keep Ctrl-C
// waiting for another thread's call.
#pragma once
#include <chrono>
#include <mutex>
#include <nanobind/nanobind.h>

namespace mille_python {

class Turn {
public:
  // With the interpreter's lock held, which is let go of while this waits.
  // Ctrl-C ends the wait of the main thread; a destructor cannot throw, and
  // asks for a wait to the end.
  explicit Turn(std::timed_mutex &running, bool interruptible = true)
      : running(running) {
    if (running.try_lock())
      return;
    while (!waitFor(running))
      if (interruptible && PyErr_CheckSignals() != 0)
        throw nanobind::python_error();
  }
  ~Turn() { running.unlock(); }
  Turn(const Turn &) = delete;

private:
  static bool waitFor(std::timed_mutex &running) {
    nanobind::gil_scoped_release released;
    return running.try_lock_for(std::chrono::milliseconds(50));
  }

  std::timed_mutex &running;
};

} // namespace mille_python
