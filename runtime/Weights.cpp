// Opens weights: maps the file, or reads it into memory that nobody else
// changes. Must not trust what is in it.
#include "runtime/Weights.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using ull = unsigned long long;

namespace mille {

namespace {
mille_status fileError(const char *verb, const char *path, int error,
                       Message &message) {
  char text[128];
  const char *reason = strerror_r(error, text, sizeof text);
  return message.set(MILLE_FILE_ERROR, "cannot %s %s: %s", verb, path, reason);
}
} // namespace

mille_status Weights::openFile(const char *path, const mille_options &options,
                               const Memory &memory, Message &message) {
  int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return fileError("open", path, errno, message);
  struct stat status;
  mille_status result = MILLE_OK;
  if (fstat(file, &status) != 0)
    result = fileError("read the size of", path, errno, message);
  else if (!S_ISREG(status.st_mode))
    result = message.set(MILLE_FILE_ERROR, "%s is not a regular file", path);
  else if ((uint64_t)status.st_size < sizeof(mille_weights_header))
    result = message.set(
        MILLE_BAD_WEIGHTS,
        "%s is %llu bytes long but the header of a weights file has %llu", path,
        (ull)status.st_size, (ull)sizeof(mille_weights_header));
  if (result == MILLE_OK) {
    bytes = status.st_size;
    result = options.copy_weights ? copy(file, path, memory, message)
                                  : map(file, path, message);
  }
  ::close(file);
  return result;
}

mille_status Weights::map(int file, const char *path, Message &message) {
  void *memory = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  if (memory == MAP_FAILED)
    return errno == ENOMEM
               ? message.set(MILLE_OUT_OF_MEMORY,
                             "cannot map the %llu bytes of %s: no memory",
                             (ull)bytes, path)
               : fileError("map", path, errno, message);
  data = static_cast<const char *>(memory);
  origin = Origin::mapped;
  // Large pages, where the system has them, are also what it then reads at a
  // time; MADV_WILLNEED would read small ones.
  if (madvise(memory, bytes, MADV_HUGEPAGE) != 0)
    madvise(memory, bytes, MADV_WILLNEED);
  return MILLE_OK;
}

mille_status Weights::copy(int file, const char *path, const Memory &memory,
                           Message &message) {
  char *into = static_cast<char *>(memory.allocate(memory.user, bytes, 64));
  if (!into)
    return message.set(MILLE_OUT_OF_MEMORY,
                       "the %llu bytes of %s need memory but it was refused",
                       (ull)bytes, path);
  data = into;
  origin = Origin::copied;
  constexpr uint64_t most = 1 << 30; // that one call reads
  for (uint64_t at = 0; at < bytes;) {
    uint64_t left = bytes - at;
    ssize_t count = pread(file, into + at, left < most ? left : most, at);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fileError("read", path, errno, message);
    if (count == 0)
      return message.set(MILLE_BAD_WEIGHTS,
                         "%s was %llu bytes long but ended after %llu while it "
                         "was read",
                         path, (ull)bytes, (ull)at);
    at += count;
  }
  return MILLE_OK;
}

mille_status Weights::open(const mille_model &model, const char *path,
                           const mille_options &options, const Memory &memory,
                           Message &message) {
  mille_status status = MILLE_OK;
  if (path) {
    status = openFile(path, options, memory, message);
  } else if (model.weights) {
    path = "the embedded weights file";
    data = static_cast<const char *>(model.weights);
    bytes = model.weights_bytes;
    if (bytes < sizeof(mille_weights_header))
      status =
          message.set(MILLE_INTERNAL,
                      "the embedded weights are %llu bytes long", (ull)bytes);
  } else {
    status = message.set(MILLE_INVALID_ARGUMENT,
                         "weights_path is null but model %s has no embedded "
                         "weights",
                         model.name);
  }
  if (status == MILLE_OK) {
    table =
        reinterpret_cast<const uint64_t *>(data + sizeof(mille_weights_header));
    status = checkWeights(model, *this, path, options.verify_hash, message);
  }
  if (status == MILLE_OK)
    tensors = data +
              reinterpret_cast<const mille_weights_header *>(data)->data_offset;
  else
    close(memory);
  return status;
}

void Weights::forget(const char *from, uint64_t count) const {
  constexpr uint64_t page = 4096;
  const uint64_t first = ((uint64_t)from + page - 1) / page * page,
                 end = ((uint64_t)from + count) / page * page;
  if (origin == Origin::mapped && first < end)
    madvise((void *)first, end - first, MADV_DONTNEED);
}

void Weights::close(const Memory &memory) {
  if (origin == Origin::mapped)
    munmap(const_cast<char *>(data), bytes);
  if (origin == Origin::copied)
    memory.release(memory.user, const_cast<char *>(data));
  *this = Weights();
}

} // namespace mille
