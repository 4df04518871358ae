// States of a session: where they lie, how they are copied, and the runtime's
// steps that write them. Must not read a row that `past` does not count.
#include "runtime/States.h"
#include "runtime/Backend.h"
#include "runtime/StatePanels.h"

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
  return info.type == MILLE_BF16 ? 2 : 4;
}

bool isGiven(const mille_tensor_info &info, const Sizes &most) {
  for (uint32_t d = 0; d < info.rank; ++d)
    if (most.extent(info.shape[d]) < 1)
      return false;
  return true;
}

// The rows of one sequence: whole panels where a size counts them.
int64_t stateRows(const mille_tensor_info &info, const Sizes &most) {
  int64_t rows = most.extent(info.shape[2]);
  return info.shape[2] < 0 ? wholePanels(rows) : rows;
}

// The bytes of one sequence in the buffer of an entry.
uint64_t sequenceBytes(const mille_tensor_info &info, const Sizes &most) {
  return (uint64_t)(stateRows(info, most) * info.shape[3]) *
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
  uint64_t bytes = sequenceBytes(model.states[number], session.most);
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

uint64_t stateBytes(mille_session &session, size_t state) {
  const mille_tensor_info &info = session.package->model->states[state];
  return (uint64_t)info.shape[0] * sequenceBytes(info, session.most) +
         (session.part && info.type != MILLE_I32 ? deviceMark : 0);
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
  uint64_t begin = 0, done = 0; // of an entry's bytes; of those copied
  const int64_t entries =
      status == MILLE_OK ? entriesOf(*session, (uint32_t)state) : 0;
  for (int64_t e = 0; status == MILLE_OK && done < bytes; ++e) {
    char *other = (char *)memory + done;
    if (e == entries) { // a device's mark
      if (reads)
        memset(other, 0, bytes - done);
      break;
    }
    Part part = partOf(*session, (uint32_t)state, e, sequence);
    const uint64_t at = first + done - begin;
    if (at < part.bytes) {
      const uint64_t left = bytes - done, here = part.bytes - at;
      const uint64_t size = left < here ? left : here;
      char *own = part.first + at;
      status = reads ? readPart(*session, own, other, size)
                     : writePart(*session, own, other, size);
      done += size;
    }
    begin += part.bytes;
  }
  session->running.store(0);
  return status;
}

// The run's rows that each sequence has room for: `each` gets the sequence, the
// first row of the run, the first row of the state, and how many there are.
template <typename Each>
void eachSequence(mille_run *run, const int32_t *past, int64_t stateRows,
                  int64_t tokens, const Each &each) {
  mille_session &session = sessionOf(run);
  if (session.planning || session.stopped())
    return;
  Sequences own = sequencesOf(run, tokens);
  for (int64_t s = 0; s < own.batch; ++s) {
    int64_t first = (past ? past[s] : 0) + own.before(s),
            room = stateRows - first;
    each(s, own.first(s), first, own.rows(s) < room ? own.rows(s) : room);
  }
}

// The input's rows of heads, and the rows of a sequence's state.
struct Heads {
  int64_t stride, heads, size, stateRows;
};

// Scatters rows of heads into panels; Element has the bytes of an element.
template <typename Element> struct PanelWriter : Heads {
  const Element *input;
  Element *entry;

  Element *headOf(int64_t sequence, int64_t head) const {
    return entry + (sequence * heads + head) * size * stateRows;
  }
  void writeKey(int64_t sequence, int64_t from, int64_t row) const {
    const int64_t pair = mille_key_pair(sizeof(Element), size);
    for (int64_t h = 0; h < heads; ++h) {
      const Element *key = input + from * stride + h * size;
      Element *to = headOf(sequence, h) + mille_key_place(row, 0, size, pair);
      // Elements of a pair are neighbours, pairs a panel's row apart.
      for (int64_t d = 0; d < size; d += pair)
        for (int64_t i = 0; i < pair; ++i)
          to[d * MILLE_PANEL_ROWS + i] = key[d + i];
    }
  }
  // `last`: the next row is not written by this run.
  void writeValue(int64_t sequence, int64_t from, int64_t row,
                  bool last) const {
    const int64_t pair = mille_value_pair(sizeof(Element));
    const bool alone = last && row % pair + 1 < pair;
    for (int64_t h = 0; h < heads; ++h) {
      const Element *value = input + from * stride + h * size;
      Element *head = headOf(sequence, h);
      for (int64_t d = 0; d < size; ++d) {
        Element *to = head + mille_value_place(row, d, size, pair, stateRows);
        to[0] = value[d];
        if (alone)
          to[1] = 0;
      }
    }
  }
};

template <typename Element>
void rememberPanels(mille_run *run, const void *input, const Heads &heads,
                    bool keys, const int32_t *past, int64_t tokens,
                    void *entry) {
  const PanelWriter<Element> writer{heads, (const Element *)input,
                                    (Element *)entry};
  eachSequence(run, past, heads.stateRows, tokens,
               [&](int64_t s, int64_t from, int64_t row, int64_t rows) {
                 for (int64_t m = 0; m < rows; ++m)
                   keys
                       ? writer.writeKey(s, from + m, row + m)
                       : writer.writeValue(s, from + m, row + m, m + 1 == rows);
               });
}

} // namespace

uint32_t stateEntries(const mille_model &model) {
  uint32_t count = 0;
  for (uint32_t s = 0; s < model.state_count; ++s)
    count += (uint32_t)model.states[s].shape[0];
  return count;
}

int64_t longestState(const mille_model &model, const Sizes &most) {
  int64_t longest = 0;
  for (uint32_t s = 0; s < model.state_count; ++s) {
    const mille_tensor_info &info = model.states[s];
    int64_t rows = isGiven(info, most) ? stateRows(info, most) : 0;
    longest = rows > longest ? rows : longest;
  }
  return longest;
}

void layOutStates(const mille_model &model, const Sizes &most, char *slab,
                  void **states, DeviceStates *device, Bytes &sum) {
  uint32_t buffer = 0;
  Bytes apart;
  if (device)
    *device = DeviceStates();
  for (uint32_t s = 0; s < model.state_count; ++s) {
    const mille_tensor_info &info = model.states[s];
    const bool given = isGiven(info, most);
    uint64_t rows = 0, bytes = 0;
    if (given)
      sum.fits = sum.fits &&
                 multiply(most.batch(), stateRows(info, most), rows) &&
                 rows < INT32_MAX - 64 &&
                 multiply(rows + readableRows,
                          info.shape[3] * bytesOfElement(info), bytes) &&
                 !__builtin_add_overflow(bytes, readableBytes, &bytes);
    const bool onDevice = device && info.type != MILLE_I32;
    for (int64_t e = 0; e < info.shape[0]; ++e, ++buffer) {
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

// Where the session is on a device, whole numbers are remembered by the host
// too. True where nothing is left to do.
static bool rememberedOnDevice(mille_run *run, const Remember &what) {
  return doneOnDevice(sessionOf(run), &mille_backend::remember, what) &&
         !isOnHost(what.entry);
}

} // namespace mille

using namespace mille;

extern "C" {

void mille_remember(mille_run *run, const void *input, int64_t input_stride,
                    int64_t row_bytes, const int32_t *past, int64_t state_rows,
                    int64_t tokens, void *entry) {
  const int64_t rows = tokens == MILLE_RUN_TOKENS ? run->tokens : tokens;
  if (rememberedOnDevice(run, {input, input_stride, row_bytes, past, run->batch,
                               rows, state_rows, entry}))
    return;
  eachSequence(run, past, state_rows, tokens,
               [&](int64_t s, int64_t from, int64_t row, int64_t rows) {
                 char *to = (char *)entry + (s * state_rows + row) * row_bytes;
                 for (int64_t m = 0; m < rows; ++m)
                   memcpy(to + m * row_bytes,
                          (const char *)input + (from + m) * input_stride,
                          row_bytes);
               });
}

void mille_remember_panels(mille_run *run, const void *input,
                           int64_t input_stride, int32_t keys, int64_t heads,
                           int64_t size, int64_t element_bytes,
                           const int32_t *past, int64_t state_rows,
                           int64_t tokens, void *entry) {
  if (sessionOf(run).part) { // which has rows in place of panels
    mille_remember(run, input, input_stride * element_bytes,
                   heads * size * element_bytes, past, state_rows, tokens,
                   entry);
    return;
  }
  const Heads own = {input_stride, heads, size, state_rows};
  if (element_bytes == 2)
    return rememberPanels<uint16_t>(run, input, own, keys, past, tokens, entry);
  rememberPanels<uint32_t>(run, input, own, keys, past, tokens, entry);
}

void mille_positions(mille_run *run, const int32_t *past, int64_t rows,
                     int32_t *out) {
  HostStep host(run, out, rows, 1);
  if (host.skipped())
    return;
  Sequences own = sequencesOf(run, MILLE_RUN_TOKENS);
  for (int64_t s = 0; s < own.batch; ++s)
    for (int64_t t = 0; t < own.rows(s); ++t)
      out[own.first(s) + t] = past[s] + (int32_t)(own.before(s) + t);
  host.give();
}

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
      if (part.first)
        status =
            copyPart(*session, part.first + (to - from) * (int64_t)part.bytes,
                     part.first, part.bytes);
    }
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
