// Reads checkpoints: every word of the header is compared with what this
// trainer would write, and every number is hashed before one is taken. Must not
// trust a length.
#include "runtime/train/Checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

using ull = unsigned long long;
using ll = long long;

namespace mille {
namespace {

constexpr uint64_t pieceBytes = 1 << 20;
constexpr uint64_t mostHeader = (uint64_t)1 << 30;

class Reader {
public:
  Reader(mille_trainer &trainer, const char *path)
      : trainer(trainer), memory(trainer.package->memory), path(path),
        file(open(path, O_RDONLY | O_CLOEXEC)) {}
  ~Reader() {
    char *const texts[] = {found, wanted, piece};
    for (char *text : texts)
      if (text)
        memory.release(memory.user, text);
    if (file >= 0)
      close(file);
  }

  mille_status load() {
    struct stat info;
    if (file < 0 || fstat(file, &info) != 0)
      return refuseSystem(errno);
    fileBytes = (uint64_t)info.st_size;
    mille_status status = readHeader();
    if (status == MILLE_OK)
      status = readFacts();
    if (status == MILLE_OK)
      status = compareHeader();
    if (status == MILLE_OK)
      status = eachTensor(/*take=*/false);
    if (status == MILLE_OK)
      status = eachTensor(/*take=*/true);
    if (status != MILLE_OK)
      return status;
    trainer.step = facts.step;
    trainer.last = {};
    memcpy(trainer.notes, facts.notes, sizeof facts.notes);
    return MILLE_OK;
  }

private:
  mille_status refuseSystem(int error) {
    char text[128];
    return trainer.message.set(MILLE_FILE_ERROR, "cannot read %s: %s", path,
                               strerror_r(error, text, sizeof text));
  }
  __attribute__((format(printf, 2, 3))) mille_status refuse(const char *format,
                                                            ...) {
    char why[384];
    va_list values;
    va_start(values, format);
    vsnprintf(why, sizeof why, format, values);
    va_end(values);
    return trainer.message.set(MILLE_BAD_WEIGHTS, "%s %s", path, why);
  }

  bool read(void *into, uint64_t size, uint64_t at) {
    char *next = (char *)into;
    while (size) {
      const ssize_t count = pread(file, next, size, (off_t)at);
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0) {
        readError = count < 0 ? errno : EIO;
        return false;
      }
      next += count;
      at += (uint64_t)count;
      size -= (uint64_t)count;
    }
    return true;
  }

  char *allocate(uint64_t size) {
    return (char *)memory.allocate(memory.user, size, 64);
  }
  mille_status refuseMemory(uint64_t size) {
    return trainer.message.set(MILLE_OUT_OF_MEMORY,
                               "reading %s needs %llu bytes but memory was "
                               "refused",
                               path, (ull)size);
  }

  mille_status readHeader() {
    if (fileBytes < 8)
      return refuse("has %llu bytes, which is no checkpoint", (ull)fileBytes);
    if (!read(&headerBytes, 8, 0))
      return refuseSystem(readError);
    if (headerBytes > fileBytes - 8 || headerBytes > mostHeader)
      return refuse("has a header of %llu bytes but %llu bytes in all",
                    (ull)headerBytes, (ull)fileBytes);
    found = allocate(headerBytes + 1);
    if (!found)
      return refuseMemory(headerBytes + 1);
    if (!read(found, headerBytes, 8))
      return refuseSystem(readError);
    found[headerBytes] = 0;
    return MILLE_OK;
  }

  // The text under a key of the metadata: `"key":"text"`. No text that this
  // runtime writes has a quotation mark or a backslash.
  bool word(const char *key, char *into, size_t room) {
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\":\"", key);
    const char *end = strchr(found, '}');
    const char *at = end ? strstr(found, quoted) : nullptr;
    if (!at || at > end)
      return false;
    at += strlen(quoted);
    const size_t size = strcspn(at, "\"\\");
    if (at[size] != '"' || size >= room)
      return false;
    memcpy(into, at, size);
    into[size] = 0;
    return true;
  }

  mille_status readFacts() {
    static const char format[] = "mille-checkpoint ";
    char text[160];
    if (!word("format", text, sizeof text) ||
        strncmp(text, format, sizeof format - 1) != 0)
      return refuse("is no checkpoint of Mille: its metadata has no \"format\" "
                    "of one");
    if (strcmp(text + sizeof format - 1, "1") != 0)
      return refuse("is a checkpoint of format %s but this runtime reads "
                    "format 1",
                    text + sizeof format - 1);
    if (!word("step", text, sizeof text) || !whole(text, 10, facts.step) ||
        facts.step < 0)
      return refuse("does not say its step");
    int64_t hash;
    if (!word("hash", text, sizeof text) || !whole(text, 16, hash))
      return refuse("does not say its hash");
    facts.hash = (uint64_t)hash;
    for (int note = 0; note < noteCount; ++note)
      if (!word(noteNames[note], facts.notes[note].text,
                sizeof facts.notes[note].text) &&
          note != noteMask)
        return refuse("does not say its %s", noteNames[note]);
    return MILLE_OK;
  }

  static bool whole(const char *text, int base, int64_t &number) {
    char *end;
    errno = 0;
    number = base == 10 ? strtoll(text, &end, base)
                        : (int64_t)strtoull(text, &end, base);
    return *text && !*end && errno == 0;
  }

  // Of a header that differs: the word of the metadata, or the tensor, that
  // does.
  mille_status compareHeader() {
    HeaderText counted;
    writeHeader(trainer, facts, counted);
    HeaderText mine;
    mine.room = counted.size + 1;
    mine.text = wanted = allocate(mine.room);
    if (!wanted)
      return refuseMemory(mine.room);
    writeHeader(trainer, facts, mine);
    uint64_t same = 0;
    while (same < mine.size && same < headerBytes &&
           wanted[same] == found[same])
      ++same;
    if (same == mine.size && same == headerBytes)
      return checkSize();
    static const char *const keys[] = {"spec", "optimizer"};
    for (const char *key : keys) {
      char theirs[160] = "nothing", own[160] = "";
      word(key, theirs, sizeof theirs);
      char *keep = found;
      found = wanted;
      word(key, own, sizeof own);
      found = keep;
      if (strcmp(theirs, own) != 0)
        return refuse("is a checkpoint whose %s is %s but this trainer's is "
                      "%s",
                      key, theirs, own);
    }
    // A tensor's text begins behind `},"`.
    uint64_t begin = same + 2 < mine.size ? same + 2 : same;
    while (begin > 2 && memcmp(wanted + begin - 3, "},\"", 3) != 0)
      --begin;
    return refuse("has another tensor where this trainer has %.*s",
                  (int)strcspn(wanted + begin, "\""), wanted + begin);
  }

  mille_status checkSize() {
    uint64_t bytes = 8 + headerBytes;
    for (uint64_t p = 0; p < trainer.parameters(); ++p)
      bytes += trainer.training->parameters[p].elements * sizeof(float) *
               (uint64_t)(1 + trainer.stateCount());
    if (bytes == fileBytes)
      return MILLE_OK;
    return refuse("has %llu bytes but its tensors end at byte %llu",
                  (ull)fileBytes, (ull)bytes);
  }

  // Hashes the tensors, or puts them in their places.
  mille_status eachTensor(bool take) {
    if (!piece && !(piece = allocate(pieceBytes)))
      return refuseMemory(pieceBytes);
    HeaderText words;
    words.text = wanted;
    words.room = headerBytes + 1;
    writeFacts(trainer, facts, words);
    uint64_t hash = mille_weights_hash(MILLE_HASH_START, wanted, words.size),
             at = 8 + headerBytes;
    for (int array = 0; array <= trainer.stateCount(); ++array)
      for (uint64_t p = 0; p < trainer.parameters(); ++p) {
        char *into = (char *)trainer.at(arrayOf(trainer, array), p);
        uint64_t rest = trainer.training->parameters[p].elements * 4;
        for (uint64_t size; rest; rest -= size, at += size, into += size) {
          size = rest < pieceBytes ? rest : pieceBytes;
          if (!read(take ? into : piece, size, at))
            return refuseSystem(readError);
          if (!take)
            hash = mille_weights_hash(hash, piece, size);
        }
      }
    if (take || hash == facts.hash)
      return MILLE_OK;
    return refuse("is damaged: its hash is %016" PRIx64
                  " but what it holds has %016" PRIx64,
                  facts.hash, hash);
  }

  mille_trainer &trainer;
  const Memory memory;
  const char *path;
  int file;
  int readError = 0;
  uint64_t fileBytes = 0, headerBytes = 0;
  char *found = nullptr, *wanted = nullptr, *piece = nullptr;
  CheckpointFacts facts;
};

} // namespace

mille_status loadCheckpoint(mille_trainer &trainer, const char *path) {
  mille_status status = Reader(trainer, path).load();
  trainer.torn = trainer.torn && status != MILLE_OK;
  return status;
}

} // namespace mille
