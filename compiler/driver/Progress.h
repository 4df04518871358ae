// Shows the progress of long work in one line of a terminal, but not in a pipe.
// Must remove the line at the end.
#pragma once
#include "llvm/ADT/Twine.h"

namespace mille {

// Replaces the line. Any thread may call it.
void showProgress(const llvm::Twine &text);
// Removes the line. Call it before anything else is printed, and at the end.
void clearProgress();

} // namespace mille
