// After a crash or another bug in Mille: writes a file with the command line
// and the model, and exits with status 4. Must not allocate memory after the
// failure.
#include "compiler/driver/Reproducer.h"

#include "compiler/driver/Progress.h"
#include "compiler/weights/Leftover.h"
#include "llvm/ADT/StringRef.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <poll.h>
#include <thread>
#include <unistd.h>

using namespace mille;

// Filled in advance, since nothing may be allocated after a failure.
static std::string line, path, model, mapped;

static void put(int file, const char *text, size_t size) {
  while (size > 0) {
    ssize_t done = ::write(file, text, size);
    if (done <= 0)
      return;
    text += done;
    size -= done;
  }
}
static void put(int file, const char *text) { put(file, text, strlen(text)); }

void mille::leaveReproducer() {
  int file =
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
  if (file >= 0) {
    put(file, "// mille " MILLE_VERSION "\n// ");
    put(file, line.c_str());
    put(file, "\n");
    put(file, model.data(), model.size());
    close(file);
  }
  put(2, "mille: this is a bug of ours; the command was\n  ");
  put(2, line.c_str());
  put(2, file >= 0 ? "\nhelp: please report it with the file " : "\n");
  if (file >= 0) {
    put(2, path.c_str());
    put(2, "\n");
  }
}

//===-- The watcher -------------------------------------------------------===//

// A thread that removes half-written files before the process ends, since a
// signal handler may not call what that takes. One byte wakes it: the number of
// a signal, which it raises again afterwards, or 0, which it answers.
static int wake[2], answer[2];

static void watch() {
  unsigned char byte;
  while (::read(wake[0], &byte, 1) == 1) {
    removeLeftovers();
    if (byte != 0) {
      clearProgress();
      signal(byte, SIG_DFL);
      kill(getpid(), byte);
    }
    put(answer[1], "", 1);
  }
}

// May be called anywhere. Waits for at most a second, since the failure may
// have left a lock that the watcher needs.
static void removeHalfWritten() {
  put(wake[1], "", 1);
  pollfd done = {answer[0], POLLIN, 0};
  poll(&done, 1, 1000);
}

static void onInterrupt(int signal) {
  char byte = static_cast<char>(signal);
  put(wake[1], &byte, 1);
}

static void onCrash(int signal) {
  if (signal == SIGBUS && !mapped.empty()) {
    put(2, "mille: error: cannot read ");
    put(2, mapped.c_str());
    put(2, " any more: it was cut while it was used, or its disk failed\n");
    removeHalfWritten();
    _exit(1);
  }
  const char *name = strsignal(signal);
  put(2, "mille: error: internal failure (");
  put(2, name ? name : "signal");
  put(2, ")\n");
  leaveReproducer();
  removeHalfWritten();
  _exit(4);
}

static void onExhaustedMemory() {
  put(2, "mille: error: out of memory\n");
  removeHalfWritten();
  _exit(3);
}

void mille::watchForCrashes(const std::string &commandLine) {
  line = commandLine;
  const char *folder = getenv("TMPDIR");
  path = std::string(folder && *folder ? folder : "/tmp") +
         "/mille-reproducer-" + std::to_string(getpid()) + ".mlir";
  if (pipe2(wake, O_CLOEXEC) == 0 && pipe2(answer, O_CLOEXEC) == 0)
    std::thread(watch).detach();
  // The handlers get their own stack, so that a stack overflow is reported too.
  static char stack[64 << 10];
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_handler = onCrash;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND;
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
    sigaction(signal, &action, nullptr);
  action.sa_handler = onInterrupt;
  action.sa_flags = SA_RESTART;
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) // nohup and shells ignore some signals
      sigaction(signal, &action, nullptr);
  }
  std::set_new_handler(onExhaustedMemory);
}

void mille::expectChangesOf(const std::string &file) { mapped = file; }

void mille::rememberModel(const std::string &text) { model = text; }

bool mille::injectedFault(Stage stage) {
  const char *wish = getenv("MILLE_FAULT");
  if (!wish)
    return false;
  auto [kind, place] = llvm::StringRef(wish).split('@');
  if (place != rungOf(stage).name)
    return false;
  if (kind == "crash")
    abort();
  if (kind == "memory")
    onExhaustedMemory();
  return kind == "bug";
}
