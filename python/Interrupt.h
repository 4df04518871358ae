// Ctrl-C cancels what the main thread runs. Must not touch the interpreter:
// a signal may come at any time.
#pragma once
#include "loader/mille_loader.h"
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

} // namespace mille_python
