// A folder that is gone when the work is done.
// Must not be used for what the user wants to keep.
#include "compiler/driver/Scratch.h"

#include "llvm/Support/FileSystem.h"

using namespace mille;

const std::string &Scratch::folder() {
  if (path.empty()) {
    llvm::SmallString<128> made;
    if (!llvm::sys::fs::createUniqueDirectory("mille", made))
      path = std::string(made);
    else // writing to it says what is wrong
      path = "/tmp/mille-no-scratch";
    leftover = std::make_unique<Leftover>(path);
  }
  return path;
}

Scratch::~Scratch() {
  if (!path.empty())
    llvm::sys::fs::remove_directories(path);
}
