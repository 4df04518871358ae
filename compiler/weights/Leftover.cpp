// A list of what is half-written, for the end of the process.
// Must not touch anything that is not on it.
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
std::mutex guard;
std::map<int, Entry> entries; // by number: in order of registration
int last = 0;
} // namespace

Leftover::Leftover(std::string path, bool onlyEmpty) {
  std::lock_guard<std::mutex> lock(guard);
  number = ++last;
  entries[number] = {std::move(path), onlyEmpty};
}

Leftover::~Leftover() {
  std::lock_guard<std::mutex> lock(guard);
  entries.erase(number);
}

void mille::removeLeftovers() {
  std::lock_guard<std::mutex> lock(guard);
  for (auto at = entries.rbegin(); at != entries.rend(); ++at) {
    const Entry &entry = at->second;
    if (entry.onlyEmpty)
      ::rmdir(entry.path.c_str());
    else if (llvm::sys::fs::is_directory(entry.path))
      llvm::sys::fs::remove_directories(entry.path);
    else
      ::unlink(entry.path.c_str());
  }
}
