// A temporary folder, removed when the object dies.
// Must not hold files that the user wants to keep.
#include "compiler/driver/Scratch.h"

#include "llvm/Support/FileSystem.h"

using namespace mille;

const std::string &Scratch::folder() {
  if (path.empty()) {
    llvm::SmallString<128> made;
    if (!llvm::sys::fs::createUniqueDirectory("mille", made))
      path = std::string(made);
    else // the first write into it reports the error
      path = "/tmp/mille-no-scratch";
    leftover = std::make_unique<Leftover>(path);
  }
  return path;
}

Scratch::~Scratch() {
  if (!path.empty())
    llvm::sys::fs::remove_directories(path);
}
