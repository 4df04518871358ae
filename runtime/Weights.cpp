// Maps and checks weights: each way to be wrong has its own sentence.
// Must not read past the size that the file has.
#include "runtime/Weights.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using ull = unsigned long long;

extern "C" uint64_t mille_weights_hash(uint64_t hash, const void *data,
                                       uint64_t bytes) {
  const char *next = static_cast<const char *>(data);
  for (; bytes;) {
    uint64_t word = 0, part = bytes < 8 ? bytes : 8;
    memcpy(&word, next, part);
    hash = (hash ^ word) * 1099511628211ull;
    next += part;
    bytes -= part;
  }
  return hash;
}

namespace mille {

namespace {
mille_status fileError(const char *verb, const char *path, int error,
                       Message &message) {
  char text[128];
  const char *reason = strerror_r(error, text, sizeof text);
  return message.set(MILLE_FILE_ERROR, "cannot %s %s: %s", verb, path, reason);
}
} // namespace

mille_status Weights::map(const mille_model &model, const char *path,
                          Message &message) {
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
    void *memory = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory == MAP_FAILED) {
      result = errno == ENOMEM
                   ? message.set(MILLE_OUT_OF_MEMORY,
                                 "cannot map the %llu bytes of %s: no memory",
                                 (ull)bytes, path)
                   : fileError("map", path, errno, message);
    } else {
      data = static_cast<const char *>(memory);
      mapped = true;
      // Both only help where the system can: read ahead, use large pages.
      madvise(memory, bytes, MADV_HUGEPAGE);
      madvise(memory, bytes, MADV_WILLNEED);
    }
  }
  ::close(file);
  return result;
}

mille_status Weights::check(const mille_model &model, const char *path,
                            bool verifyHash, Message &message) {
  mille_weights_header header;
  memcpy(&header, data, sizeof header);
  if (memcmp(header.magic, MILLE_WEIGHTS_MAGIC, sizeof header.magic) != 0)
    return message.set(MILLE_BAD_WEIGHTS,
                       "%s is not a Mille weights file: it does not begin with "
                       "MILLEWT and the byte 1",
                       path);
  if (header.version > MILLE_WEIGHTS_VERSION)
    return message.set(MILLE_BAD_WEIGHTS,
                       "%s has weights version %u but this runtime reads "
                       "versions up to %u: a newer Mille wrote it",
                       path, header.version, MILLE_WEIGHTS_VERSION);
  if (header.version == 0)
    return message.set(MILLE_BAD_WEIGHTS,
                       "%s has weights version 0 but versions begin at 1",
                       path);
  header.model[sizeof header.model - 1] = 0;
  if (strncmp(header.model, model.name, sizeof header.model - 1) != 0)
    return message.set(MILLE_BAD_WEIGHTS,
                       "%s has the weights of model %s but the code is of %s",
                       path, header.model, model.name);
  if (bytes != header.total_bytes)
    return message.set(MILLE_BAD_WEIGHTS,
                       "%s is %llu bytes long but its header says %llu", path,
                       (ull)bytes, (ull)header.total_bytes);
  if (bytes != model.weights_bytes)
    return message.set(MILLE_BAD_WEIGHTS,
                       "%s is %llu bytes long but %s was compiled with %llu",
                       path, (ull)bytes, model.name, (ull)model.weights_bytes);
  if (header.hash != model.weights_hash)
    return message.set(MILLE_BAD_WEIGHTS,
                       "%s has hash %016llx but %s was compiled with weights "
                       "of hash %016llx",
                       path, (ull)header.hash, model.name,
                       (ull)model.weights_hash);
  uint64_t tableBytes;
  if (header.table_offset > bytes || header.table_offset % 8 ||
      !multiply(header.table_count, 8, tableBytes) ||
      tableBytes > bytes - header.table_offset)
    return message.set(MILLE_BAD_WEIGHTS,
                       "%s has a table of %llu entries at %llu but is %llu "
                       "bytes long",
                       path, (ull)header.table_count, (ull)header.table_offset,
                       (ull)bytes);
  if (header.data_offset > bytes || header.data_offset % 64)
    return message.set(MILLE_BAD_WEIGHTS,
                       "%s has its tensors at %llu but is %llu bytes long and "
                       "tensors are 64-byte aligned",
                       path, (ull)header.data_offset, (ull)bytes);
  if (verifyHash) {
    uint64_t hash = mille_weights_hash(MILLE_HASH_START, data + sizeof header,
                                       bytes - sizeof header);
    if (hash != header.hash)
      return message.set(MILLE_BAD_WEIGHTS,
                         "%s has contents of hash %016llx but its header says "
                         "%016llx: the file is damaged",
                         path, (ull)hash, (ull)header.hash);
  }
  table = reinterpret_cast<const uint64_t *>(data + header.table_offset);
  tensors = data + header.data_offset;
  return MILLE_OK;
}

mille_status Weights::open(const mille_model &model, const char *path,
                           bool verifyHash, Message &message) {
  mille_status status = MILLE_OK;
  if (path) {
    status = map(model, path, message);
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
  if (status == MILLE_OK)
    status = check(model, path, verifyHash, message);
  if (status != MILLE_OK)
    close();
  return status;
}

void Weights::close() {
  if (mapped)
    munmap(const_cast<char *>(data), bytes);
  *this = Weights();
}

} // namespace mille
