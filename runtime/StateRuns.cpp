// Which sequence's memory each run of rows is in, and how a run is left.
// Must not change what a sequence holds.
#include "runtime/StateRuns.h"
#include "runtime/Session.h"
#include "runtime/States.h"

#include <string.h>

namespace mille {

namespace {
constexpr int64_t panelsOfRun = runRows / MILLE_PANEL_ROWS;

// Whether sequences may hold a state's rows together: they lie in panels, and
// kernels index the memory of all sequences with 32 bits.
bool isShared(const mille_session &session, uint32_t state) {
  const mille_tensor_info &info = session.package->model->states[state];
  const int64_t rows = sequenceRows(info, session.most);
  uint64_t numbers = 0;
  return !session.isOnDevice() && info.heads && rows &&
         rows % MILLE_PANEL_ROWS == 0 &&
         multiply((uint64_t)session.most.batch() * rows, info.shape[3],
                  numbers) &&
         numbers <= INT32_MAX / 2;
}

// Copies the first rows of a run, up to whole panels, of all states and entries
// whose runs these are.
void copyRows(mille_session &session, uint32_t number, int64_t run,
              int64_t count, int64_t from, int64_t to) {
  const mille_model &model = *session.package->model;
  const StateRuns &runs = session.runs[number];
  uint32_t buffer = 0;
  for (uint32_t s = 0; s < model.state_count; ++s) {
    const mille_tensor_info &info = model.states[s];
    for (int64_t e = 0; e < info.shape[0]; ++e, ++buffer) {
      if (runsNumber(session, s) != number || session.windows.hold(info, e))
        continue;
      char *memory = (char *)session.states[buffer];
      const int64_t bytes = runs.rows * info.shape[3] * elementBytes(info);
      eachStrip(info, runs.rows, [&](int64_t first, int64_t row) {
        const int64_t at = first + run * runRows * row;
        memcpy(memory + to * bytes + at, memory + from * bytes + at,
               wholePanels(count) * row);
      });
    }
  }
}

} // namespace

void StateRuns::move(int64_t sequence, int64_t run, int64_t owner) {
  const int64_t first = run * panelsOfRun,
                left = rows / MILLE_PANEL_ROWS - first;
  for (int64_t p = 0; p < panelsOfRun && p < left; ++p)
    shifts[sequence * panelsApart() + first + p] = (int32_t)(owner - sequence);
}

void StateRuns::reset() {
  if (!rows)
    return;
  memset(shifts, 0, batch * panelsApart() * sizeof *shifts);
  for (int64_t i = 0; i < runs() * batch; ++i)
    holders[i] = 1;
}

void StateRuns::share(int64_t from, int64_t to) {
  for (int64_t r = 0; rows && r < runs(); ++r) {
    const int64_t owner = ownerOf(from, r);
    --holdersOf(r, ownerOf(to, r));
    ++holdersOf(r, owner);
    move(to, r, owner);
  }
}

// Into the sequence's own memory, where that is free: then its rows follow each
// other.
int64_t StateRuns::leave(int64_t sequence, int64_t run) {
  const int64_t before = ownerOf(sequence, run);
  if (holdersOf(run, before) == 1)
    return before;
  int64_t owner = sequence;
  for (int64_t other = 0; holdersOf(run, owner); ++other)
    owner = other;
  --holdersOf(run, before);
  ++holdersOf(run, owner);
  move(sequence, run, owner);
  return before;
}

uint32_t runsNumber(const mille_session &session, uint32_t state) {
  const mille_model &model = *session.package->model;
  const auto isOne = [&](uint32_t s) {
    return model.states[s].heads &&
           model.states[s].shape[2] == model.states[state].shape[2];
  };
  uint32_t first = 0;
  while (first < state && !(isOne(state) && isOne(first)))
    ++first;
  return first;
}

StateRuns *runsOf(const mille_session &session, const void *buffer) {
  const mille_model &model = *session.package->model;
  void *const *entries = session.states;
  for (uint32_t s = 0; s < model.state_count; ++s) {
    const mille_tensor_info &info = model.states[s];
    const int64_t count = info.shape[0];
    // Buffers lie in memory in the order of entries.
    if (buffer >= entries[0] && buffer <= entries[count - 1]) {
      StateRuns &runs = session.runs[runsNumber(session, s)];
      for (int64_t e = 0; info.windows && e < count; ++e)
        if (entries[e] == buffer && session.windows.hold(info, e))
          return nullptr;
      return info.heads && runs.rows ? &runs : nullptr;
    }
    entries += count;
  }
  return nullptr;
}

void holdAlone(mille_session &session, StateRuns &runs, int64_t sequence,
               int64_t run, int64_t kept) {
  const int64_t before = runs.leave(sequence, run),
                owner = runs.ownerOf(sequence, run),
                most = runs.rows - run * runRows;
  kept = kept < runRows ? kept : runRows;
  if (owner != before && kept > 0)
    copyRows(session, (uint32_t)(&runs - session.runs), run,
             kept < most ? kept : most, before, owner);
}

void layOutRuns(mille_session &session, Bytes &sum) {
  const mille_model &model = *session.package->model;
  auto at = [&](uint64_t offset) {
    return session.slab ? session.slab + offset : nullptr;
  };
  const uint64_t batch = session.most.batch();
  StateRuns none;
  none.rows = longestState(model, session.most);
  session.unmoved =
      (int32_t *)at(sum.place(none.panelsApart(), sizeof(int32_t)));
  session.unmovedPanels = none.panelsApart();
  if (session.slab)
    memset(session.unmoved, 0, none.panelsApart() * sizeof(int32_t));
  session.runs = (StateRuns *)at(sum.place(model.state_count, sizeof none));
  for (uint32_t s = 0; session.slab && s < model.state_count; ++s)
    session.runs[s] = StateRuns();
  for (uint32_t s = 0; s < model.state_count; ++s) {
    bool shared = runsNumber(session, s) == s;
    for (uint32_t other = s; shared && other < model.state_count; ++other)
      shared = runsNumber(session, other) != s || isShared(session, other);
    if (!shared)
      continue;
    StateRuns own;
    own.rows = sequenceRows(model.states[s], session.most);
    own.batch = (int64_t)batch;
    own.shifts =
        (int32_t *)at(sum.place(batch * own.panelsApart(), sizeof(int32_t)));
    own.holders = (int32_t *)at(sum.place(batch * own.runs(), sizeof(int32_t)));
    if (!session.slab)
      continue;
    own.reset();
    session.runs[s] = own;
  }
}

} // namespace mille
