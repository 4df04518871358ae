// Writes checkpoints: a file beside the wanted one, which takes its name when
// all of it is on the disk.
#include "runtime/train/Checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

using ull = unsigned long long;

namespace mille {

void HeaderText::add(const char *format, ...) {
  va_list values;
  va_start(values, format);
  const int more = vsnprintf(text ? text + size : nullptr,
                             text ? room - size : 0, format, values);
  va_end(values);
  size += (uint64_t)more;
}

void writeFacts(const mille_trainer &trainer, const CheckpointFacts &facts,
                HeaderText &into) {
  into.add("{\"__metadata__\":{\"format\":\"mille-checkpoint 1\","
           "\"names\":\"mille\",\"spec\":\"%016" PRIx64
           "\",\"optimizer\":\"%s\",\"step\":\"%" PRId64 "\"",
           trainer.training->hash, optimizerName(trainer.training->optimizer),
           facts.step);
  // Checkpoints of earlier builds have no mask.
  for (int note = 0; note < noteCount; ++note)
    if (note != noteMask || *facts.notes[note].text)
      into.add(",\"%s\":\"%s\"", noteNames[note], facts.notes[note].text);
}

void writeHeader(const mille_trainer &trainer, const CheckpointFacts &facts,
                 HeaderText &into) {
  static const char *const prefixes[] = {"", "state.m.", "state.v."};
  const uint64_t begin = into.size;
  writeFacts(trainer, facts, into);
  into.add(",\"hash\":\"%016" PRIx64 "\"}", facts.hash);
  uint64_t offset = 0;
  for (int array = 0; array <= trainer.stateCount(); ++array)
    for (uint64_t p = 0; p < trainer.parameters(); ++p) {
      const mille_parameter_info &info = trainer.training->parameters[p];
      into.add(",\"%s%s\":{\"dtype\":\"F32\",\"shape\":[", prefixes[array],
               trainer.nameOf(p));
      for (uint64_t d = 0; d < info.rank; ++d)
        into.add(d ? ",%" PRId64 : "%" PRId64, info.shape[d]);
      into.add("],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", offset,
               offset + info.elements * sizeof(float));
      offset += info.elements * sizeof(float);
    }
  into.add("}");
  while ((into.size - begin) % 8)
    into.add(" ");
}

namespace {

// A file that is written, and its first error.
struct Writer {
  int file;
  int error = 0;

  void write(const void *from, uint64_t size) {
    auto *next = (const char *)from;
    while (size && !error) {
      const ssize_t count =
          ::write(file, next, size < 1 << 30 ? size : 1 << 30);
      if (count < 0 && errno != EINTR)
        error = errno;
      if (count > 0) {
        next += count;
        size -= (uint64_t)count;
      }
    }
  }
  void require(bool good) {
    if (!good && !error)
      error = errno;
  }
};

// The folder's entry must be on the disk too, where its file system can.
void syncFolder(const char *path) {
  char folder[4096];
  const char *end = strrchr(path, '/');
  const size_t size = end ? (size_t)(end - path) + 1 : 1;
  if (size >= sizeof folder)
    return;
  memcpy(folder, end ? path : ".", size);
  folder[size] = 0;
  const int handle = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0)
    return;
  fsync(handle);
  close(handle);
}

uint64_t hashOf(const mille_trainer &trainer, const HeaderText &facts) {
  uint64_t hash = mille_weights_hash(MILLE_HASH_START, facts.text, facts.size);
  for (int array = 0; array <= trainer.stateCount(); ++array)
    for (uint64_t p = 0; p < trainer.parameters(); ++p)
      hash = mille_weights_hash(hash, trainer.at(arrayOf(trainer, array), p),
                                trainer.training->parameters[p].elements *
                                    sizeof(float));
  return hash;
}

int writeFile(const mille_trainer &trainer, const HeaderText &header,
              const char *path) {
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0)
    return errno;
  Writer writer = {file};
  writer.write(&header.size, sizeof header.size); // little-endian
  writer.write(header.text, header.size);
  for (int array = 0; array <= trainer.stateCount(); ++array)
    for (uint64_t p = 0; p < trainer.parameters(); ++p)
      writer.write(trainer.at(arrayOf(trainer, array), p),
                   trainer.training->parameters[p].elements * sizeof(float));
  if (!writer.error)
    writer.require(fsync(file) == 0);
  writer.require(close(file) == 0);
  return writer.error;
}

} // namespace

mille_status saveCheckpoint(mille_trainer &trainer, const char *path) {
  const Memory &memory = trainer.package->memory;
  CheckpointFacts facts;
  facts.step = trainer.step;
  memcpy(facts.notes, trainer.notes, sizeof facts.notes);
  char partial[4096];
  if (snprintf(partial, sizeof partial, "%s.partial", path) >=
      (int)sizeof partial)
    return trainer.message.set(MILLE_INVALID_ARGUMENT,
                               "the path of a checkpoint has %zu bytes",
                               strlen(path));
  HeaderText counted;
  writeHeader(trainer, facts, counted); // the hash has a fixed width
  HeaderText header;
  header.room = counted.size + 1;
  header.text = (char *)memory.allocate(memory.user, header.room, 64);
  if (!header.text)
    return trainer.message.set(MILLE_OUT_OF_MEMORY,
                               "a checkpoint needs %llu bytes for its header "
                               "but memory was refused",
                               (ull)header.room);
  writeFacts(trainer, facts, header);
  facts.hash = hashOf(trainer, header);
  header.size = 0;
  writeHeader(trainer, facts, header);
  int error = writeFile(trainer, header, partial);
  memory.release(memory.user, header.text);
  if (!error && rename(partial, path) != 0)
    error = errno;
  if (!error) {
    syncFolder(path);
    return MILLE_OK;
  }
  unlink(partial);
  char text[128];
  return trainer.message.set(MILLE_FILE_ERROR,
                             "cannot write %s: %s; what was there is as before",
                             path, strerror_r(error, text, sizeof text));
}

} // namespace mille
