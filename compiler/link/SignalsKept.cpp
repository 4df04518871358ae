// Restores the signal handlers of the process, which LLVM and lld replace while
// they write files. Must not touch handlers that they did not replace.
#include "compiler/link/SignalsKept.h"

#include "llvm/Support/Signals.h"

#include <csignal>
#include <mutex>

using namespace mille::link;

static std::mutex guard;
static int alive = 0;
static void (*interrupt)(int); // LLVM replaces all handlers or none
static stack_t stack;

static void (*handlerOf(int signal))(int) {
  struct sigaction action = {};
  sigaction(signal, nullptr, &action);
  return action.sa_handler;
}

SignalsKept::SignalsKept() {
  std::lock_guard<std::mutex> lock(guard);
  if (alive++ > 0)
    return;
  interrupt = handlerOf(SIGINT);
  sigaltstack(nullptr, &stack);
}

SignalsKept::~SignalsKept() {
  std::lock_guard<std::mutex> lock(guard);
  if (--alive > 0 || handlerOf(SIGINT) == interrupt)
    return;
  llvm::sys::unregisterHandlers();
  sigaltstack(&stack, nullptr);
}
