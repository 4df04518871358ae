// Saves a sequence to a file and opens one from a file: its ids, what outputs
// say of the last one, and its states. Must not leave half a file or half a
// sequence.
#include "generation/StateFile.h"
#include "generation/Generation.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

namespace mille::generation {

namespace {

class StateFile {
public:
  StateFile(mille_generation &made, int64_t number, const char *path)
      : made(made), sequence(made.sequences[number]), number(number),
        path(path) {}
  ~StateFile() {
    if (file)
      fclose(file);
  }

  Status save();
  Status load();

private:
  enum class Way { out, in };

  Status fileSays(const char *what) {
    return made.say(MILLE_FILE_ERROR, "%s cannot be %s: %s", path, what,
                    strerror(errno));
  }
  Status damaged(const char *what) {
    return made.say(MILLE_INVALID_INPUT, "%s is damaged: %s", path, what);
  }
  uint64_t stateBytes() const;
  int64_t numbers() const;
  Status moveOutputs(Way way);
  Status moveAll(Way way);
  Status moveStates(Way way);
  Status moveState(Way way, size_t state);
  Status movePiece(Way way, size_t size);
  // Tokens of a source in files of this generation's states.
  int64_t mostSource() const {
    const Encoder &encoder = made.encoder;
    return !encoder.there   ? 0
           : encoder.tokens ? encoder.tokens
                            : made.options.source;
  }
  bool fitsStates() const { return header.stateBytes == stateBytes(); }
  Status move(Way way, void *bytes, size_t size);
  Status checkBytes();
  Status take();
  Status readHeader();
  Status checkHeader();
  Status write(const char *part);

  mille_generation &made;
  Sequence &sequence;
  const int64_t number;
  const char *const path;
  FILE *file = nullptr;
  StateFileHeader header = {};
  uint64_t sum = checkStart;
};

uint64_t StateFile::stateBytes() const {
  uint64_t all = 0;
  for (size_t s = 0; s < made.stateCount; ++s)
    all += made.states[s].bytes;
  return all;
}

int64_t StateFile::numbers() const {
  int64_t all = 0;
  for (size_t o = 0; o < made.outputCount; ++o)
    all += made.outputs[o].numbers();
  return all;
}

// Bytes between the file and memory.
Status StateFile::move(Way way, void *bytes, size_t size) {
  if (way == Way::in && fread(bytes, 1, size, file) != size)
    return ferror(file) ? fileSays("read") : damaged("it ends too early");
  sum = checked(sum, bytes, size);
  if (way == Way::out && fwrite(bytes, 1, size, file) != size)
    return fileSays("written");
  return MILLE_OK;
}

// A piece of a state, which is in the buffer, or comes there.
Status StateFile::movePiece(Way way, size_t size) {
  uint64_t stored = size;
  if (way == Way::out) {
    stored = 0;
    for (size_t i = 0; i < size && !stored; ++i)
      stored = made.buffer[i] ? size : 0;
  }
  if (Status status = move(way, &stored, sizeof stored))
    return status;
  if (stored && stored != size)
    return damaged("a piece of a state has another size");
  if (stored)
    return move(way, made.buffer, size);
  memset(made.buffer, 0, size);
  return MILLE_OK;
}

Status StateFile::moveState(Way way, size_t state) {
  const mille_generation_runtime &runtime = made.runtime;
  const size_t all = made.states[state].bytes;
  for (size_t first = 0, size; first < all; first += size) {
    size = all - first < bufferBytes ? all - first : bufferBytes;
    Status status = MILLE_OK;
    if (way == Way::out &&
        (status = runtime.session_read_state_part(made.session, state, number,
                                                  first, made.buffer, size)))
      return made.runtimeSays(status);
    if ((status = movePiece(way, size)))
      return status;
    if (way == Way::in &&
        (status = runtime.session_write_state_part(made.session, state, number,
                                                   first, made.buffer, size)))
      return made.runtimeSays(status);
  }
  return MILLE_OK;
}

Status StateFile::moveStates(Way way) {
  const bool any = header.ran || header.source;
  for (size_t s = 0; any && s < made.stateCount; ++s)
    if (Status status = moveState(way, s))
      return status;
  return MILLE_OK;
}

// What is read becomes the first that the sequence keeps.
Status StateFile::moveOutputs(Way way) {
  for (size_t o = 0; o < made.outputCount; ++o) {
    float *last = way == Way::out ? made.lastOf(sequence, o) : sequence.kept[o];
    if (Status status =
            move(way, last, (size_t)made.outputs[o].numbers() * sizeof *last))
      return status;
  }
  return MILLE_OK;
}

Status StateFile::moveAll(Way way) {
  sum = checkStart;
  if (Status status =
          move(way, sequence.ids, (size_t)header.held * sizeof(int32_t)))
    return status;
  if (header.flags & hasOutputs)
    if (Status status = moveOutputs(way))
      return status;
  return way == Way::out || fitsStates() ? moveStates(way) : MILLE_OK;
}

// The header comes last, when the sum is known.
Status StateFile::write(const char *part) {
  file = fopen(part, "wbx");
  if (!file)
    return fileSays("written");
  Status status = MILLE_OK;
  if (fwrite(&header, sizeof header, 1, file) != 1)
    return fileSays("written");
  if ((status = moveAll(Way::out)))
    return status;
  header.bytes = (uint64_t)ftell(file);
  header.check = checkedHeader(sum, header);
  if (fseek(file, 0, SEEK_SET) ||
      fwrite(&header, sizeof header, 1, file) != 1 || fflush(file) ||
      fsync(fileno(file)))
    return fileSays("written");
  FILE *closing = file;
  file = nullptr;
  return fclose(closing) ? fileSays("written") : MILLE_OK;
}

Status StateFile::save() {
  char part[4096];
  const int size =
      snprintf(part, sizeof part, "%s.%ld.part", path, (long)getpid());
  if (size < 0 || (size_t)size >= sizeof part)
    return made.say(MILLE_INVALID_ARGUMENT, "path has too many bytes");
  memcpy(header.magic, stateFileMagic, sizeof stateFileMagic);
  header.version = stateFileVersion;
  header.flags = sequence.knowsOutputs() ? hasOutputs : 0;
  header.model = made.hash;
  header.held = sequence.held;
  // Guesses are not saved; sums that hold some cannot be.
  header.ran = sequence.ran < sequence.held ? sequence.ran : sequence.held;
  header.vocabulary = made.vocabulary;
  header.source = sequence.source;
  header.stateBytes = stateBytes();
  header.numbers = numbers();
  Status status = write(part);
  if (!status && rename(part, path))
    status = fileSays("written");
  if (status)
    unlink(part);
  return status;
}

Status StateFile::readHeader() {
  file = fopen(path, "rb");
  if (!file)
    return fileSays("read");
  if (fread(&header, 1, sizeof header, file) != sizeof header)
    return ferror(file) ? fileSays("read")
                        : damaged("it has no header of a sequence");
  return checkHeader();
}

Status StateFile::checkHeader() {
  if (memcmp(header.magic, stateFileMagic, sizeof stateFileMagic))
    return damaged("it does not begin as a file of a sequence");
  if (header.version != stateFileVersion)
    return made.say(MILLE_INVALID_INPUT,
                    "%s is of version %u but this library reads version %u",
                    path, header.version, stateFileVersion);
  if (header.model != made.hash)
    return made.say(MILLE_INVALID_INPUT,
                    "%s is of another model: its hash is %016llx but that of "
                    "model %s is %016llx",
                    path, (unsigned long long)header.model, made.name,
                    (unsigned long long)made.hash);
  if (header.source && !fitsStates())
    return made.say(MILLE_TOO_LARGE,
                    "%s holds a source and %llu bytes of states but there are "
                    "%llu: it fits a generation with the same context and "
                    "source alone",
                    path, (unsigned long long)header.stateBytes,
                    (unsigned long long)stateBytes());
  if (header.numbers != numbers())
    return made.say(MILLE_INVALID_INPUT,
                    "%s holds %lld numbers of a token but the outputs of model "
                    "%s have %lld: it was compiled with other options",
                    path, (ll)header.numbers, made.name, (ll)numbers());
  const bool fits = header.vocabulary == made.vocabulary && header.held >= 0 &&
                    header.ran >= 0 && header.ran <= header.held &&
                    header.source >= 0 && header.source <= mostSource() &&
                    !(header.flags & ~hasOutputs) &&
                    (!(header.flags & hasOutputs) ||
                     (header.ran && header.ran == header.held));
  if (!fits)
    return damaged("its header contradicts itself");
  if (header.held > made.options.context)
    return made.say(MILLE_TOO_LARGE,
                    "%s holds %lld tokens but there is room for %lld", path,
                    (ll)header.held, (ll)made.options.context);
  if (fseek(file, 0, SEEK_END) || ftell(file) < 0)
    return fileSays("read");
  if ((uint64_t)ftell(file) != header.bytes)
    return damaged("it has more or fewer bytes than its header says");
  return MILLE_OK;
}

// Checks the sum over the whole file before anything of it is used.
Status StateFile::checkBytes() {
  sum = checkStart;
  for (size_t size; (size = fread(made.buffer, 1, bufferBytes, file)) > 0;)
    sum = checked(sum, made.buffer, size);
  if (ferror(file))
    return fileSays("read");
  return checkedHeader(sum, header) == header.check
             ? MILLE_OK
             : damaged("its bytes are not those that were written");
}

Status StateFile::take() {
  if (fseek(file, sizeof header, SEEK_SET))
    return fileSays("read");
  if (Status status = moveAll(Way::in))
    return status;
  for (int64_t i = 0; i < header.held; ++i)
    if (sequence.ids[i] < 0 || sequence.ids[i] >= made.vocabulary)
      return damaged("it holds an id that is not in the vocabulary");
  // States of another context have another layout, so the ids run again.
  const bool fits = fitsStates();
  sequence.source = header.source;
  sequence.held = header.held;
  sequence.ran = fits ? header.ran : 0;
  sequence.guessed = 0;
  sequence.lender = nullptr;
  sequence.rows = fits && header.flags & hasOutputs ? 1 : 0;
  sequence.firstRow = sequence.rows ? header.held - 1 : 0;
  rewind(made, sequence, header.held);
  sequence.open = true;
  return MILLE_OK;
}

Status StateFile::load() {
  if (Status status = readHeader())
    return status;
  if (fseek(file, sizeof header, SEEK_SET))
    return fileSays("read");
  const Status status = checkBytes();
  return status ? status : take();
}

} // namespace
} // namespace mille::generation

using namespace mille::generation;

extern "C" {

mille_status mille_sequence_save(mille_generation *generation, int64_t sequence,
                                 const char *path) {
  mille_status status = MILLE_INVALID_ARGUMENT;
  Sequence *found = generation ? generation->find(sequence, status) : nullptr;
  if (!found || !path)
    return status;
  return StateFile(*generation, sequence, path).save();
}

mille_status mille_sequence_load(mille_generation *generation, const char *path,
                                 int64_t *sequence) {
  if (!generation || !path || !sequence)
    return MILLE_INVALID_ARGUMENT;
  int64_t number;
  if (!closedSequence(*generation, number))
    return MILLE_TOO_LARGE;
  mille_status status = StateFile(*generation, number, path).load();
  if (!status)
    *sequence = number;
  return status;
}
}
