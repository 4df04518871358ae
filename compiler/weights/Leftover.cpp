// The list of half-written files and folders, which the end of the process
// removes. Must not touch anything that is not on it.
#include "compiler/weights/Leftover.h"

#include "llvm/Support/FileSystem.h"

#include <map>
#include <mutex>
#include <unistd.h>

using namespace mille;

namespace {
struct Entry {
  std::string path;
  bool onlyEmpty;
};
std::recursive_mutex guard;
std::map<int, Entry> entries; // by number: in order of registration
int last = 0;
} // namespace

Leftover::Leftover(std::string path, bool onlyEmpty) {
  auto held = holdEnd();
  number = ++last;
  entries[number] = {std::move(path), onlyEmpty};
}

Leftover::~Leftover() {
  auto held = holdEnd();
  entries.erase(number);
}

std::unique_lock<std::recursive_mutex> mille::holdEnd() {
  return std::unique_lock(guard);
}

// Renames the folder first, so that nobody adds files to it meanwhile.
static void removeFolder(const std::string &path) {
  std::string gone = path + ".gone";
  llvm::sys::fs::remove_directories(
      ::rename(path.c_str(), gone.c_str()) == 0 ? gone : path);
}

void mille::removeLeftovers() {
  guard.lock(); // never unlocked
  for (auto at = entries.rbegin(); at != entries.rend(); ++at) {
    const Entry &entry = at->second;
    if (entry.onlyEmpty)
      ::rmdir(entry.path.c_str());
    else if (llvm::sys::fs::is_directory(entry.path))
      removeFolder(entry.path);
    else
      ::unlink(entry.path.c_str());
  }
}
