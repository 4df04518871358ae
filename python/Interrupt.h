// Ctrl-C cancels what the main thread runs. What handles the signal must not
// touch the interpreter: it may come at any time.
#pragma once
#include "Module.h"
#include <atomic>
#include <csignal>
#include <sys/syscall.h>
#include <unistd.h>

namespace mille_python {

// Cancels `handle` at Ctrl-C while it lives, in the main thread alone: there
// Python takes signals.
template <typename Handle, mille_status (*cancel)(Handle *)>
class Interruptible {
public:
  explicit Interruptible(Handle *handle)
      : main(getpid() == syscall(SYS_gettid)) {
    if (!main)
      return;
    interrupted = handle;
    struct sigaction action = {};
    action.sa_sigaction = onInterrupt;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGINT, &action, &before);
  }
  Interruptible(const Interruptible &) = delete;
  ~Interruptible() {
    if (!main)
      return;
    sigaction(SIGINT, &before, nullptr);
    interrupted = nullptr;
  }

private:
  static void onInterrupt(int number, siginfo_t *info, void *context) {
    if (Handle *handle = interrupted.load())
      cancel(handle);
    if (before.sa_flags & SA_SIGINFO)
      before.sa_sigaction(number, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
      before.sa_handler(number);
  }

  static inline std::atomic<Handle *> interrupted;
  static inline struct sigaction before;
  const bool main;
};

// A call that runs the model, which Ctrl-C stops. call(body) must run `body` in
// the handle's turn, without the interpreter's lock.
template <auto cancel, auto messageOf, typename Handle, typename Call,
          typename Body>
void callInterruptibly(Handle *const &handle, Call call, Body body) {
  mille_status status = MILLE_OK;
  std::string message;
  call([&] {
    Interruptible<Handle, cancel> stops(handle);
    status = body();
    if (status != MILLE_OK)
      message = messageOf(handle);
    return MILLE_OK;
  });
  if (PyErr_CheckSignals() != 0) // Ctrl-C is no mille.Cancelled
    throw nb::python_error();
  check(status, message.c_str());
}

} // namespace mille_python
