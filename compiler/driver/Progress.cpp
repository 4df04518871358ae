// Shows the progress of long work in one line of a terminal, but not in a pipe.
// Must remove the line at the end.
#include "compiler/driver/Progress.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <mutex>

using namespace mille;

static std::mutex guard;
static bool shown = false;

// Stderr, or the descriptor MILLE_PROGRESS where a caller keeps stderr for
// itself (python/mille/compiling.py). Null: it is no terminal.
static llvm::raw_ostream *terminal() {
  static llvm::raw_fd_ostream *const found = [] {
    const char *wish = getenv("MILLE_PROGRESS");
    int number = 2;
    if (wish && llvm::StringRef(wish).getAsInteger(10, number))
      number = 2;
    auto *stream = &static_cast<llvm::raw_fd_ostream &>(llvm::errs());
    if (number != 2) {
      static llvm::raw_fd_ostream other(number, /*shouldClose=*/false);
      stream = &other;
    }
    return stream->is_displayed() ? stream : nullptr;
  }();
  return found;
}

void mille::showProgress(const llvm::Twine &text) {
  if (!terminal())
    return;
  std::lock_guard<std::mutex> lock(guard);
  *terminal() << "\r\x1b[K" << text;
  terminal()->flush();
  shown = true;
}

void mille::clearProgress() {
  std::lock_guard<std::mutex> lock(guard);
  if (!shown)
    return;
  *terminal() << "\r\x1b[K";
  terminal()->flush();
  shown = false;
}
