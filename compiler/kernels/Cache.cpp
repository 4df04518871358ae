// The kernel cache: one file for each entry, written under another name and
// then renamed, so that other processes see whole entries only. Must not lock.
#include "compiler/kernels/Cache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <atomic>
#include <vector>

using namespace llvm;

namespace {

constexpr uint64_t limitBytes = 512u << 20;
constexpr StringLiteral magic = "MILLEKC1"; // then 8 bytes of hash, then bytes

std::string pathOf(const std::string &key) {
  std::string folder = mille::kernelCacheFolder();
  if (folder.empty())
    return folder;
  SmallString<256> path(folder);
  sys::path::append(path, "kernels", key + ".o");
  return path.str().str();
}

std::string hashOf(StringRef bytes) {
  uint64_t hash = xxh3_64bits(bytes);
  return std::string(reinterpret_cast<const char *>(&hash), sizeof hash);
}

// Removes the least recently used entries until the folder holds half the
// limit.
void trim(StringRef folder) {
  struct Entry {
    std::string path;
    uint64_t bytes;
    sys::TimePoint<> time;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code problem;
  for (sys::fs::directory_iterator it(folder, problem), end;
       !problem && it != end; it.increment(problem)) {
    sys::fs::file_status status;
    if (sys::fs::status(it->path(), status))
      continue;
    entries.push_back(
        {it->path(), status.getSize(), status.getLastModificationTime()});
    total += status.getSize();
  }
  if (total <= limitBytes)
    return;
  std::sort(entries.begin(), entries.end(),
            [](const Entry &a, const Entry &b) { return a.time < b.time; });
  for (const Entry &entry : entries) {
    if (total <= limitBytes / 2)
      return;
    sys::fs::remove(entry.path);
    total -= entry.bytes;
  }
}

} // namespace

std::string mille::kernelCacheFolder() {
  if (auto folder = sys::Process::GetEnv("XDG_CACHE_HOME"))
    if (sys::path::is_absolute(*folder)) // as the XDG rules have it
      return *folder + "/mille";
  if (auto home = sys::Process::GetEnv("HOME"))
    if (sys::path::is_absolute(*home))
      return *home + "/.cache/mille";
  return {};
}

std::string mille::kernelCacheKey(const std::string &text) {
  auto digest = llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  return llvm::toHex(llvm::ArrayRef(digest.data(), digest.size()), true);
}

bool mille::readKernelCache(const std::string &key, std::string &bytes) {
  std::string path = pathOf(key);
  if (path.empty())
    return false;
  auto file = MemoryBuffer::getFile(path, false, false);
  if (!file)
    return false;
  StringRef text = (*file)->getBuffer();
  if (!text.consume_front(magic) || text.size() <= 8)
    return false;
  StringRef body = text.drop_front(8);
  if (text.take_front(8) != hashOf(body))
    return false;
  bytes = body.str();
  int handle; // age counts from the last use
  if (!sys::fs::openFileForWrite(path, handle, sys::fs::CD_OpenExisting,
                                 sys::fs::OF_Append)) {
    sys::fs::setLastAccessAndModificationTime(handle,
                                              std::chrono::system_clock::now());
    sys::Process::SafelyCloseFileDescriptor(handle);
  }
  return true;
}

void mille::writeKernelCache(const std::string &key, const std::string &bytes) {
  std::string path = pathOf(key);
  if (path.empty())
    return;
  StringRef folder = sys::path::parent_path(path);
  if (sys::fs::create_directories(folder))
    return;
  SmallString<256> aside;
  int handle;
  if (sys::fs::createUniqueFile(path + ".%%%%%%%%", handle, aside))
    return;
  raw_fd_ostream out(handle, true);
  out << magic << hashOf(bytes) << bytes;
  out.close();
  bool broken = out.has_error();
  out.clear_error();
  if (broken || sys::fs::rename(aside, path)) {
    sys::fs::remove(aside);
    return;
  }
  static std::atomic<unsigned> writes{0};
  if (writes++ % 64 == 0)
    trim(folder);
}
