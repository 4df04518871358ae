// Only calls that a signal handler may make: no memory, no locks, no stdio.
// Must not be used for folders of folders.
#include "compiler/link/Interrupted.h"

#include <atomic>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mille::link {
namespace {

constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr size_t maxMade = 16;

char hidden[PATH_MAX];
char around[maxMade][PATH_MAX]; // outermost first
size_t aroundCount;
std::atomic<bool> taken, ready;
struct sigaction before[3];

// What getdents64 gives.
struct Entry {
  uint64_t inode;
  int64_t offset;
  uint16_t length;
  uint8_t type;
  char name[1];
};

void removeFolder() {
  int folder = ::open(hidden, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return;
  alignas(Entry) char bytes[4096];
  for (bool some = true; some;) { // removing moves what is left
    some = false;
    ::lseek(folder, 0, SEEK_SET);
    for (long count;
         (count = ::syscall(SYS_getdents64, folder, bytes, sizeof bytes)) > 0;)
      for (long at = 0; at < count;) {
        auto *entry = reinterpret_cast<Entry *>(bytes + at);
        some |= ::unlinkat(folder, entry->name, 0) == 0;
        at += entry->length;
      }
  }
  ::close(folder);
  ::rmdir(hidden);
  for (size_t i = aroundCount; i-- > 0;)
    ::rmdir(around[i]);
}

void onSignal(int signal) {
  if (ready.exchange(false))
    removeFolder();
  struct sigaction fallback = {};
  fallback.sa_handler = SIG_DFL;
  ::sigaction(signal, &fallback, nullptr);
  ::raise(signal); // delivered when this handler returns
}

} // namespace

RemovedWhenInterrupted::RemovedWhenInterrupted(
    llvm::StringRef folder, llvm::ArrayRef<std::string> made) {
  bool fits = folder.size() < PATH_MAX && made.size() <= maxMade;
  for (const std::string &path : made)
    fits &= path.size() < PATH_MAX;
  if (!fits || taken.exchange(true))
    return;
  armed = true;
  std::strcpy(hidden, folder.str().c_str());
  aroundCount = made.size();
  for (size_t i = 0; i < made.size(); ++i)
    std::strcpy(around[i], made[i].c_str());
  ready = true;
  for (int i = 0; i < 3; ++i) {
    struct sigaction action = {};
    action.sa_handler = onSignal;
    ::sigaction(signals[i], nullptr, &before[i]);
    if (before[i].sa_handler == SIG_DFL) // ignored or somebody's: leave it
      ::sigaction(signals[i], &action, nullptr);
  }
}

RemovedWhenInterrupted::~RemovedWhenInterrupted() {
  if (!armed)
    return;
  for (int i = 0; i < 3; ++i)
    ::sigaction(signals[i], &before[i], nullptr);
  ready = false;
  taken = false;
}

} // namespace mille::link
