// Shows the progress of long work in one line of a terminal, but not in a pipe.
// Must remove the line at the end.
#include "compiler/driver/Progress.h"

#include "llvm/Support/raw_ostream.h"

#include <mutex>

using namespace mille;

static std::mutex guard;
static bool shown = false;

void mille::showProgress(const llvm::Twine &text) {
  if (!llvm::errs().is_displayed())
    return;
  std::lock_guard<std::mutex> lock(guard);
  llvm::errs() << "\r\x1b[K" << text;
  llvm::errs().flush();
  shown = true;
}

void mille::clearProgress() {
  std::lock_guard<std::mutex> lock(guard);
  if (!shown)
    return;
  llvm::errs() << "\r\x1b[K";
  llvm::errs().flush();
  shown = false;
}
