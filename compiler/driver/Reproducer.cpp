// What is left behind when something breaks that is our bug: a file with the
// command line and the model as it was, and exit status 4, whatever broke.
// Must not allocate once something broke.
#include "compiler/driver/Reproducer.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Signals.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <unistd.h>

using namespace mille;

// Filled while all is well, read when nothing may be allocated.
static std::string line, path;
static const std::string *model = nullptr;

static void put(int file, const char *text, size_t size) {
  while (size > 0) {
    ssize_t done = ::write(file, text, size);
    if (done <= 0)
      return;
    text += done;
    size -= done;
  }
}
static void put(int file, const char *text) {
  put(file, text, strlen(text));
}

void mille::leaveReproducer() {
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
  if (file >= 0) {
    put(file, "// mille " MILLE_VERSION "\n// ");
    put(file, line.c_str());
    put(file, "\n");
    if (model)
      put(file, model->data(), model->size());
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

static void onCrash(int signal) {
  const char *name = strsignal(signal);
  put(2, "mille: error: internal failure (");
  put(2, name ? name : "signal");
  put(2, ")\n");
  leaveReproducer();
  llvm::sys::RunInterruptHandlers(); // removes half-written files
  _exit(4);
}

static void onExhaustedMemory() {
  put(2, "mille: error: out of memory\n");
  llvm::sys::RunInterruptHandlers();
  _exit(3);
}

void mille::watchForCrashes(const std::string &commandLine) {
  line = commandLine;
  const char *folder = getenv("TMPDIR");
  path = std::string(folder && *folder ? folder : "/tmp") +
         "/mille-reproducer-" + std::to_string(getpid()) + ".mlir";
  // A stack of its own, so that an overflow of the stack is reported too.
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
  std::set_new_handler(onExhaustedMemory);
}

void mille::rememberModel(const std::string *text) { model = text; }

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
