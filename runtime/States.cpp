// States of a session: where they lie, and how they are copied.
// Must not know what is remembered.
#include "runtime/States.h"
#include "runtime/Backend.h"
#include "runtime/StateRuns.h"

#include <string.h>

namespace mille {

namespace {
// Kernels read whole panels and whole vectors: rows that follow the last one,
// and bytes that follow these.
constexpr uint64_t readableRows = 64, readableBytes = 512;

// A device has rows where the CPU has panels. So a state of its own has so many
// bytes more, which are 0: what saves states tells them apart by their size.
constexpr uint64_t deviceMark = 8;

uint64_t bytesOfElement(const mille_tensor_info &info) {
  return (uint64_t)elementBytes(info);
}

bool isGiven(const mille_tensor_info &info, const Sizes &most) {
  for (uint32_t d = 0; d < info.rank; ++d)
    if (most.extent(info.shape[d]) < 1)
      return false;
  return true;
}

// The rows of one sequence in the buffer of an entry, and their bytes.
int64_t entryRows(const mille_tensor_info &info, const Sizes &most,
                  const StateWindows &windows, int64_t entry) {
  return windows.hold(info, entry) ? windows.rows : sequenceRows(info, most);
}
uint64_t sequenceBytes(const mille_session &session, uint32_t number,
                       int64_t entry) {
  const mille_tensor_info &info = session.package->model->states[number];
  return (uint64_t)(entryRows(info, session.most, session.windows, entry) *
                    info.shape[3]) *
         bytesOfElement(info);
}

// One sequence's part of entry `entry` of state `number`; null: the session has
// none.
struct Part {
  char *first;
  uint64_t bytes;
};
Part partOf(mille_session &session, uint32_t number, int64_t entry,
            int64_t sequence) {
  const mille_model &model = *session.package->model;
  uint32_t buffer = (uint32_t)entry;
  for (uint32_t s = 0; s < number; ++s)
    buffer += (uint32_t)model.states[s].shape[0];
  uint64_t bytes = sequenceBytes(session, number, entry);
  char *first = (char *)session.states[buffer];
  return {first ? first + sequence * bytes : nullptr, bytes};
}
// Moves a part's bytes on the device, where the session is on one. Where the
// host has them too, the host's are moved by itself.
mille_status moveOnDevice(mille_session &session, StateMove::Kind kind,
                          void *state, void *other, uint64_t bytes) {
  if (!session.part)
    return MILLE_OK;
  return session.part->device->backend->moveState(session,
                                                  {kind, state, other, bytes});
}
bool isOnHost(const void *state) { return !DeviceStates::isApart(state); }

mille_status clearPart(mille_session &session, const Part &part,
                       uint64_t bytes) {
  if (isOnHost(part.first))
    memset(part.first, 0, bytes);
  return moveOnDevice(session, StateMove::clear, part.first, nullptr, bytes);
}
mille_status copyPart(mille_session &session, char *to, char *from,
                      uint64_t bytes) {
  if (isOnHost(from))
    memcpy(to, from, bytes);
  return moveOnDevice(session, StateMove::copy, to, from, bytes);
}
mille_status readPart(mille_session &session, char *from, void *to,
                      uint64_t bytes) {
  if (!isOnHost(from))
    return moveOnDevice(session, StateMove::read, from, to, bytes);
  memcpy(to, from, bytes);
  return MILLE_OK;
}
mille_status writePart(mille_session &session, char *to, void *from,
                       uint64_t bytes) {
  if (isOnHost(to))
    memcpy(to, from, bytes);
  return moveOnDevice(session, StateMove::write, to, from, bytes);
}

int64_t entriesOf(mille_session &session, uint32_t number) {
  return session.package->model->states[number].shape[0];
}

// The runs of an entry's rows; null: no other sequence holds them.
StateRuns *sharedRuns(mille_session &session, uint32_t number, int64_t entry) {
  StateRuns &runs = session.runs[runsNumber(session, number)];
  const mille_tensor_info &info = session.package->model->states[number];
  return runs.rows && info.heads && !session.windows.hold(info, entry)
             ? &runs
             : nullptr;
}

// Reads or writes bytes of one sequence's part, from `at` on.
mille_status movePart(mille_session &session, const Part &part, uint64_t at,
                      char *other, uint64_t size, bool reads) {
  return reads ? readPart(session, part.first + at, other, size)
               : writePart(session, part.first + at, other, size);
}
// The same where the sequence's runs may be in the memory of others.
void moveRuns(const StateRuns &runs, const mille_tensor_info &info,
              int64_t sequence, const Part &part, uint64_t at, char *other,
              uint64_t size, bool reads) {
  char *memory = part.first - sequence * (int64_t)part.bytes;
  const int64_t first = (int64_t)at, end = first + (int64_t)size;
  eachStrip(info, runs.rows, [&](int64_t strip, int64_t row) {
    const int64_t stripEnd = strip + runs.rows * row,
                  last = end < stripEnd ? end : stripEnd;
    for (int64_t next, from = first > strip ? first : strip; from < last;
         from = next) {
      const int64_t run = (from - strip) / (runRows * row),
                    runEnd = strip + (run + 1) * runRows * row;
      next = runEnd < last ? runEnd : last;
      char *own =
          memory + runs.ownerOf(sequence, run) * (int64_t)part.bytes + from;
      memcpy(reads ? other + (from - first) : own,
             reads ? own : other + (from - first), next - from);
    }
  });
}

mille_status checkSequence(mille_session &session, int64_t sequence) {
  if (sequence >= 0 && sequence < session.most.batch())
    return MILLE_OK;
  return session.message.set(
      MILLE_INVALID_ARGUMENT,
      "sequence %lld is asked for but this session was created for %lld",
      (long long)sequence, (long long)session.most.batch());
}

mille_status checkState(mille_session &session, size_t state) {
  const mille_model &model = *session.package->model;
  if (state >= model.state_count)
    return session.message.set(MILLE_INVALID_ARGUMENT,
                               "state %zu is asked for but model %s has %u",
                               state, model.name, model.state_count);
  if (isGiven(model.states[state], session.most))
    return MILLE_OK;
  return session.message.set(
      MILLE_INVALID_ARGUMENT,
      "this session was created without the sizes of state %s",
      model.states[state].name);
}

// The bytes after those of all entries: a device's mark, or the row of the
// sequence with which its windows begin.
uint64_t endBytes(const mille_session &session, uint32_t number) {
  const mille_tensor_info &info = session.package->model->states[number];
  if (session.part && info.type != MILLE_I32)
    return deviceMark;
  return session.windows.hold(info) ? sizeof *session.windows.first : 0;
}
void transferEnd(mille_session &session, uint32_t number, int64_t sequence,
                 uint64_t at, void *memory, uint64_t bytes, bool reads) {
  char *first = (char *)&session.windows.first[sequence] + at;
  if (!session.windows.hold(session.package->model->states[number])) {
    if (reads)
      memset(memory, 0, bytes);
  } else if (reads) {
    memcpy(memory, first, bytes);
  } else {
    memcpy(first, memory, bytes);
  }
}

uint64_t stateBytes(mille_session &session, size_t state) {
  uint64_t bytes = endBytes(session, (uint32_t)state);
  for (int64_t e = 0; e < entriesOf(session, (uint32_t)state); ++e)
    bytes += sequenceBytes(session, (uint32_t)state, e);
  return bytes;
}

// Before an application writes to a state: the sequence alone holds all of it.
void leaveShared(mille_session &session, uint32_t state, int64_t sequence) {
  StateRuns &runs = session.runs[runsNumber(session, state)];
  for (int64_t run = 0; runs.rows && run < runs.runs(); ++run)
    holdAlone(session, runs, sequence, run, runRows);
}

// Copies bytes of a sequence's state, from `first` on, to or from an
// application's memory; all: they must be all there are.
mille_status transfer(mille_session *session, size_t state, int64_t sequence,
                      size_t first, void *memory, size_t bytes, bool all,
                      bool reads) {
  if (!session || !memory || !session->running.change(0, 1))
    return MILLE_INVALID_ARGUMENT;
  mille_status status = checkState(*session, state);
  if (status == MILLE_OK)
    status = checkSequence(*session, sequence);
  const uint64_t there = status == MILLE_OK ? stateBytes(*session, state) : 0;
  if (status == MILLE_OK &&
      (all ? bytes != there : first > there || bytes > there - first))
    status = session->message.set(MILLE_INVALID_ARGUMENT,
                                  "bytes is %zu but a sequence has %llu in %s",
                                  first + bytes, (unsigned long long)there,
                                  session->package->model->states[state].name);
  if (status == MILLE_OK && !reads)
    leaveShared(*session, (uint32_t)state, sequence);
  uint64_t begin = 0, done = 0; // of an entry's bytes; of those copied
  const int64_t entries =
      status == MILLE_OK ? entriesOf(*session, (uint32_t)state) : 0;
  for (int64_t e = 0; status == MILLE_OK && done < bytes; ++e) {
    char *other = (char *)memory + done;
    if (e == entries) {
      transferEnd(*session, (uint32_t)state, sequence, first + done - begin,
                  other, bytes - done, reads);
      break;
    }
    Part part = partOf(*session, (uint32_t)state, e, sequence);
    const uint64_t at = first + done - begin;
    if (at < part.bytes) {
      const uint64_t left = bytes - done, here = part.bytes - at;
      const uint64_t size = left < here ? left : here;
      if (const StateRuns *runs = sharedRuns(*session, (uint32_t)state, e))
        moveRuns(*runs, session->package->model->states[state], sequence, part,
                 at, other, size, reads);
      else
        status = movePart(*session, part, at, other, size, reads);
      done += size;
    }
    begin += part.bytes;
  }
  session->running.store(0);
  return status;
}

} // namespace

uint32_t stateEntries(const mille_model &model) {
  uint32_t count = 0;
  for (uint32_t s = 0; s < model.state_count; ++s)
    count += (uint32_t)model.states[s].shape[0];
  return count;
}

// Whole panels where a size counts them.
int64_t sequenceRows(const mille_tensor_info &info, const Sizes &most) {
  if (!isGiven(info, most))
    return 0;
  const int64_t rows = most.extent(info.shape[2]);
  return info.shape[2] < 0 ? wholePanels(rows) : rows;
}

int64_t longestState(const mille_model &model, const Sizes &most) {
  int64_t longest = 0;
  for (uint32_t s = 0; s < model.state_count; ++s) {
    const mille_tensor_info &info = model.states[s];
    int64_t rows = sequenceRows(info, most);
    longest = rows > longest ? rows : longest;
  }
  return longest;
}

bool isWindow(const mille_session &session, const void *state) {
  const mille_model &model = *session.package->model;
  uint32_t buffer = 0;
  for (uint32_t s = 0; session.windows.reach && s < model.state_count; ++s)
    for (int64_t e = 0; e < model.states[s].shape[0]; ++e, ++buffer)
      if (session.states[buffer] == state)
        return session.windows.hold(model.states[s], e);
  return false;
}

void layOutStates(const mille_model &model, const Sizes &most,
                  const StateWindows &windows, char *slab, void **states,
                  DeviceStates *device, Bytes &sum) {
  uint32_t buffer = 0;
  Bytes apart;
  if (device)
    *device = DeviceStates();
  for (uint32_t s = 0; s < model.state_count; ++s) {
    const mille_tensor_info &info = model.states[s];
    const bool given = isGiven(info, most);
    const bool onDevice = device && info.type != MILLE_I32;
    for (int64_t e = 0; e < info.shape[0]; ++e, ++buffer) {
      uint64_t rows = 0, bytes = 0;
      if (given)
        sum.fits =
            sum.fits &&
            multiply(most.batch(), entryRows(info, most, windows, e), rows) &&
            rows < INT32_MAX - 64 &&
            multiply(rows + readableRows, info.shape[3] * bytesOfElement(info),
                     bytes) &&
            !__builtin_add_overflow(bytes, readableBytes, &bytes);
      uint64_t offset = given ? (onDevice ? apart : sum).place(1, bytes) : 0;
      if (!slab)
        continue;
      char *first = onDevice ? DeviceStates::first() : slab;
      states[buffer] = given ? first + offset : nullptr;
      if (!given || onDevice)
        continue;
      memset(states[buffer], 0, bytes);
      if (device && !device->host)
        device->host = first + offset;
      if (device)
        device->hostBytes = first + offset + bytes - device->host;
    }
  }
  sum.fits = sum.fits && apart.fits;
  if (device)
    device->bytes = apart.value;
}

} // namespace mille

using namespace mille;

extern "C" {

mille_status mille_session_reset_states(mille_session *session) {
  if (!session || !session->running.change(0, 1))
    return MILLE_INVALID_ARGUMENT;
  mille_status status = MILLE_OK;
  const uint32_t states = session->package->model->state_count;
  for (uint32_t s = 0; status == MILLE_OK && s < states; ++s)
    for (int64_t e = 0; status == MILLE_OK && e < entriesOf(*session, s); ++e) {
      Part part = partOf(*session, s, e, 0);
      if (part.first)
        status = clearPart(*session, part, part.bytes * session->most.batch());
    }
  for (int64_t b = 0; b < session->most.batch(); ++b)
    session->windows.first[b] = 0;
  for (uint32_t s = 0; s < states; ++s)
    session->runs[s].reset();
  session->running.store(0);
  return status;
}

mille_status mille_session_copy_states(mille_session *session, int64_t from,
                                       int64_t to) {
  if (!session || !session->running.change(0, 1))
    return MILLE_INVALID_ARGUMENT;
  mille_status status = checkSequence(*session, from);
  if (status == MILLE_OK)
    status = checkSequence(*session, to);
  const uint32_t states = session->package->model->state_count;
  for (uint32_t s = 0; status == MILLE_OK && from != to && s < states; ++s)
    for (int64_t e = 0; status == MILLE_OK && e < entriesOf(*session, s); ++e) {
      Part part = partOf(*session, s, e, from);
      if (part.first && !sharedRuns(*session, s, e))
        status =
            copyPart(*session, part.first + (to - from) * (int64_t)part.bytes,
                     part.first, part.bytes);
    }
  for (uint32_t s = 0; status == MILLE_OK && from != to && s < states; ++s)
    session->runs[s].share(from, to);
  if (status == MILLE_OK)
    session->windows.first[to] = session->windows.first[from];
  session->running.store(0);
  return status;
}

mille_status mille_session_least_past(mille_session *session, int64_t sequence,
                                      int64_t *past) {
  if (!session || !past || !session->running.change(0, 1))
    return MILLE_INVALID_ARGUMENT;
  mille_status status = checkSequence(*session, sequence);
  if (status == MILLE_OK)
    *past = session->windows.leastPast(sequence);
  session->running.store(0);
  return status;
}

mille_status mille_session_state_bytes(mille_session *session, size_t state,
                                       size_t *bytes) {
  if (!session || !bytes || !session->running.change(0, 1))
    return MILLE_INVALID_ARGUMENT;
  mille_status status = checkState(*session, state);
  if (status == MILLE_OK)
    *bytes = stateBytes(*session, state);
  session->running.store(0);
  return status;
}

mille_status mille_session_read_state(mille_session *session, size_t state,
                                      int64_t sequence, void *into,
                                      size_t bytes) {
  return transfer(session, state, sequence, 0, into, bytes, /*all=*/true,
                  /*reads=*/true);
}

mille_status mille_session_write_state(mille_session *session, size_t state,
                                       int64_t sequence, const void *from,
                                       size_t bytes) {
  return transfer(session, state, sequence, 0, (void *)from, bytes,
                  /*all=*/true, /*reads=*/false);
}

mille_status mille_session_read_state_part(mille_session *session, size_t state,
                                           int64_t sequence, size_t first,
                                           void *into, size_t bytes) {
  return transfer(session, state, sequence, first, into, bytes, /*all=*/false,
                  /*reads=*/true);
}

mille_status mille_session_write_state_part(mille_session *session,
                                            size_t state, int64_t sequence,
                                            size_t first, const void *from,
                                            size_t bytes) {
  return transfer(session, state, sequence, first, (void *)from, bytes,
                  /*all=*/false, /*reads=*/false);
}
}
