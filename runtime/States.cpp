// States of a session: where they lie, how they are copied, and the runtime's
// steps that write them. Must not read a row that `past` does not count.
#include "runtime/States.h"
#include "runtime/Backend.h"

#include <string.h>

namespace mille {

namespace {
constexpr uint64_t readableRows = 8; // that follow the last one

uint64_t bytesOfElement(const mille_tensor_info &info) {
  return info.type == MILLE_BF16 ? 2 : 4;
}

bool isGiven(const mille_tensor_info &info, const Sizes &most) {
  for (uint32_t d = 0; d < info.rank; ++d)
    if (most.extent(info.shape[d]) < 1)
      return false;
  return true;
}

// The bytes of one sequence in the buffer of an entry.
uint64_t sequenceBytes(const mille_tensor_info &info, const Sizes &most) {
  return (uint64_t)(most.extent(info.shape[2]) * info.shape[3]) *
         bytesOfElement(info);
}

// What one sequence's part of state `number` is, entry by entry.
struct Part {
  char *first;
  uint64_t bytes;
};
template <typename Each>
void eachEntry(mille_session &session, uint32_t number, int64_t sequence,
               const Each &each) {
  const mille_model &model = *session.package->model;
  uint32_t buffer = 0;
  for (uint32_t s = 0; s < number; ++s)
    buffer += (uint32_t)model.states[s].shape[0];
  const mille_tensor_info &info = model.states[number];
  uint64_t bytes = sequenceBytes(info, session.most);
  for (int64_t e = 0; e < info.shape[0]; ++e)
    if (char *first = (char *)session.states[buffer + e])
      each(Part{first + sequence * bytes, bytes});
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
  return (uint64_t)info.shape[0] * sequenceBytes(info, session.most);
}

// Copies a sequence's part of a state to or from an application's memory.
template <typename Copy>
mille_status transfer(mille_session *session, size_t state, int64_t sequence,
                      const void *memory, size_t bytes, const Copy &copy) {
  if (!session || !memory || !session->running.change(0, 1))
    return MILLE_INVALID_ARGUMENT;
  mille_status status = checkState(*session, state);
  if (status == MILLE_OK)
    status = checkSequence(*session, sequence);
  if (status == MILLE_OK && bytes != stateBytes(*session, state))
    status = session->message.set(
        MILLE_INVALID_ARGUMENT, "bytes is %zu but a sequence has %llu in %s",
        bytes, (unsigned long long)stateBytes(*session, state),
        session->package->model->states[state].name);
  uint64_t done = 0;
  if (status == MILLE_OK)
    eachEntry(*session, (uint32_t)state, sequence, [&](const Part &part) {
      copy(part.first, done, part.bytes);
      done += part.bytes;
    });
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

void layOutStates(const mille_model &model, const Sizes &most, char *slab,
                  void **states, Bytes &sum) {
  uint32_t buffer = 0;
  for (uint32_t s = 0; s < model.state_count; ++s) {
    const mille_tensor_info &info = model.states[s];
    const bool given = isGiven(info, most);
    uint64_t rows = 0, bytes = 0;
    if (given)
      sum.fits = sum.fits &&
                 multiply(most.batch(), most.extent(info.shape[2]), rows) &&
                 rows < INT32_MAX - 64 &&
                 multiply(rows + readableRows,
                          info.shape[3] * bytesOfElement(info), bytes);
    for (int64_t e = 0; e < info.shape[0]; ++e, ++buffer) {
      uint64_t offset = given ? sum.place(1, bytes) : 0;
      if (!slab)
        continue;
      states[buffer] = given ? slab + offset : nullptr;
      if (given)
        memset(states[buffer], 0, bytes);
    }
  }
}

} // namespace mille

using namespace mille;

extern "C" {

void mille_remember(mille_run *run, const void *input, int64_t input_stride,
                    int64_t row_bytes, const int32_t *past, int64_t state_rows,
                    void *entry) {
  mille_session &session = sessionOf(run);
  if (session.planning || session.stopped())
    return;
  Sequences own = sequencesOf(run, MILLE_RUN_TOKENS);
  for (int64_t s = 0; s < own.batch; ++s) {
    int64_t room = state_rows - past[s] - own.before(s);
    int64_t rows = own.rows(s) < room ? own.rows(s) : room;
    const char *from = (const char *)input + own.first(s) * input_stride;
    char *to =
        (char *)entry + (s * state_rows + past[s] + own.before(s)) * row_bytes;
    for (int64_t m = 0; m < rows; ++m)
      memcpy(to + m * row_bytes, from + m * input_stride, row_bytes);
  }
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
  for (uint32_t s = 0; s < session->package->model->state_count; ++s)
    for (int64_t b = 0; b < session->most.batch(); ++b)
      eachEntry(*session, s, b,
                [](const Part &part) { memset(part.first, 0, part.bytes); });
  session->running.store(0);
  return MILLE_OK;
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
    eachEntry(*session, s, from, [&](const Part &part) {
      memcpy(part.first + (to - from) * (int64_t)part.bytes, part.first,
             part.bytes);
    });
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
  return transfer(session, state, sequence, into, bytes,
                  [&](const char *part, uint64_t at, uint64_t size) {
                    memcpy((char *)into + at, part, size);
                  });
}

mille_status mille_session_write_state(mille_session *session, size_t state,
                                       int64_t sequence, const void *from,
                                       size_t bytes) {
  return transfer(session, state, sequence, from, bytes,
                  [&](char *part, uint64_t at, uint64_t size) {
                    memcpy(part, (const char *)from + at, size);
                  });
}
}
