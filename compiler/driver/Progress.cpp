// One line on a terminal that says what long work is doing; nothing in a pipe.
// Must not print anything that stays.
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
