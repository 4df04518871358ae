// A cache of compiled programs on disk; device, driver and text are the key.
// Must never fail a run: a cache that cannot be read or written counts as
// empty.
#include "runtime/abi.h"
#include "runtime/opencl/Context.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mille::opencl {
namespace {

struct Head {
  char magic[8];
  ProgramKey key;
  uint64_t size, hash; // of the bytes that follow
};
constexpr char magic[8] = {'M', 'I', 'L', 'L', 'E', 'C', 'L', '1'};

uint64_t hashOf(uint64_t start, const void *data, size_t bytes) {
  return mille_weights_hash(start, data, bytes);
}

// $XDG_CACHE_HOME/mille, or ~/.cache/mille; false if neither is known.
bool folderOf(char *path, size_t size) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int length = 0;
  if (cache && *cache)
    length = snprintf(path, size, "%s/mille", cache);
  else if (home && *home)
    length = snprintf(path, size, "%s/.cache/mille", home);
  return length > 0 && (size_t)length < size;
}

bool pathOf(const ProgramKey &key, const char *ending, char *path,
            size_t size) {
  char folder[512];
  if (!folderOf(folder, sizeof folder))
    return false;
  int length = snprintf(path, size, "%s/%016llx%016llx.opencl%s", folder,
                        (unsigned long long)key.half[0],
                        (unsigned long long)key.half[1], ending);
  return length > 0 && (size_t)length < size;
}

bool readAll(int file, void *memory, size_t size) {
  for (char *at = (char *)memory; size;) {
    ssize_t got = read(file, at, size);
    if (got <= 0)
      return false;
    at += got;
    size -= got;
  }
  return true;
}

bool writeAll(int file, const void *memory, size_t size) {
  for (const char *at = (const char *)memory; size;) {
    ssize_t put = write(file, at, size);
    if (put <= 0)
      return false;
    at += put;
    size -= put;
  }
  return true;
}

void makeFolders(char *path) {
  for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
    *at = 0;
    mkdir(path, 0777);
    *at = '/';
  }
}

} // namespace

ProgramKey keyOf(const Context &context, const Text &text) {
  const mille_device &info = context.found.info;
  const Text parts[] = {info.name, info.version, info.driver, text};
  ProgramKey key;
  for (int half = 0; half < 2; ++half) {
    uint64_t hash = MILLE_HASH_START + half * 0x9e3779b97f4a7c15ull;
    for (const Text &part : parts) {
      uint64_t length = part.size;
      hash = hashOf(hash, &length, sizeof length);
      hash = hashOf(hash, part.begin, length);
    }
    key.half[half] = hash;
  }
  return key;
}

unsigned char *readBinary(const Memory &memory, const ProgramKey &key,
                          size_t &size) {
  char path[640];
  if (!pathOf(key, "", path, sizeof path))
    return nullptr;
  int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return nullptr;
  Head head;
  struct stat status;
  unsigned char *bytes = nullptr;
  if (readAll(file, &head, sizeof head) && fstat(file, &status) == 0 &&
      memcmp(head.magic, magic, sizeof magic) == 0 && head.key == key &&
      head.size == (uint64_t)status.st_size - sizeof head && head.size)
    bytes = (unsigned char *)memory.allocate(memory.user, head.size, 64);
  if (bytes && (!readAll(file, bytes, head.size) ||
                hashOf(MILLE_HASH_START, bytes, head.size) != head.hash)) {
    memory.release(memory.user, bytes);
    bytes = nullptr;
  }
  ::close(file);
  size = head.size;
  return bytes;
}

// Writes under a temporary name and renames, so that a reader sees the whole
// file or none.
void writeBinary(const ProgramKey &key, const unsigned char *bytes,
                 size_t size) {
  Head head;
  char path[640], own[640], ending[32];
  memcpy(head.magic, magic, sizeof magic);
  head.key = key;
  head.size = size;
  head.hash = hashOf(MILLE_HASH_START, bytes, size);
  snprintf(ending, sizeof ending, ".%ld.%p", (long)getpid(), (void *)&head);
  if (!pathOf(key, "", path, sizeof path) ||
      !pathOf(key, ending, own, sizeof own))
    return;
  makeFolders(own);
  int file = ::open(own, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0)
    return;
  bool whole =
      writeAll(file, &head, sizeof head) && writeAll(file, bytes, size);
  whole = ::close(file) == 0 && whole;
  if (!whole || rename(own, path) != 0)
    unlink(own);
}

} // namespace mille::opencl
