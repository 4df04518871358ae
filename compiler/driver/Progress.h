// One line on a terminal that says what long work is doing; nothing in a pipe.
// Must not print anything that stays.
#pragma once
#include "llvm/ADT/Twine.h"

namespace mille {

// Replaces the line. Any thread.
void showProgress(const llvm::Twine &text);
// Wipes the line, before anything else is printed and at the end.
void clearProgress();

} // namespace mille
