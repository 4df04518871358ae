// Rows of states that several sequences hold: a copy of a sequence is the same
// memory, run by run, until one of the two writes there.
// Must not know what is in a row, nor what a kernel reads.
#pragma once
#include "runtime/StateWindows.h"

struct mille_session;

namespace mille {

// Rows of a run: whole panels.
constexpr int64_t runRows = 256;

// Calls each(first byte, bytes of a row) for each strip of a sequence's memory
// in panels, in which its rows follow each other; in the order of memory.
template <typename Each>
void eachStrip(const mille_tensor_info &info, int64_t rows, const Each &each);

// The runs of all states that have the same number of rows. Run r of a sequence
// is run r in the memory of some sequence, its own at first. A sequence holds
// one run of each number: so there are never fewer than all hold, and who has
// to leave a run finds another.
struct StateRuns {
  int64_t rows = 0; // of a sequence; 0: nothing is shared
  int64_t batch = 0;
  // How many sequences further on a panel lies, [batch, panelsApart].
  int32_t *shifts = nullptr;
  int32_t *holders = nullptr; // [runs, batch], by whose memory the run is in

  int64_t runs() const { return (rows + runRows - 1) / runRows; }
  // Kernels look up panels that follow the last one.
  int64_t panelsApart() const { return rows / MILLE_PANEL_ROWS + 8; }
  const int32_t *shiftsOf(int64_t sequence) const {
    return shifts + sequence * panelsApart();
  }
  // In whose memory a run of a sequence is.
  int64_t ownerOf(int64_t sequence, int64_t run) const {
    return sequence + shiftsOf(sequence)[run * (runRows / MILLE_PANEL_ROWS)];
  }
  int32_t &holdersOf(int64_t run, int64_t owner) const {
    return holders[run * batch + owner];
  }
  // All sequences in memory of their own.
  void reset();
  // `to` holds what `from` holds.
  void share(int64_t from, int64_t to);
  // Leaves a run for one that nobody holds, where others hold it too; gives
  // whose memory the run was in.
  int64_t leave(int64_t sequence, int64_t run);

private:
  void move(int64_t sequence, int64_t run, int64_t owner);
};

// The first state whose runs are those of this one too.
uint32_t runsNumber(const mille_session &session, uint32_t state);
// The runs of a state's buffer; null: each sequence's rows are its own.
StateRuns *runsOf(const mille_session &session, const void *buffer);
// Before a run is written: the sequence holds it alone, with its first `kept`
// rows.
void holdAlone(mille_session &session, StateRuns &runs, int64_t sequence,
               int64_t run, int64_t kept);

// Places the runs of all states, in `runs`, and a table of zeros for a state
// that has none.
void layOutRuns(mille_session &session, Bytes &sum);

template <typename Each>
void eachStrip(const mille_tensor_info &info, int64_t rows, const Each &each) {
  const bool bytes = info.type == MILLE_I8;
  const int64_t element = elementBytes(info),
                row = info.shape[3] / info.heads * element,
                size = bytes ? row - MILLE_STEP_BYTES : row / element,
                columns = mille_panel_columns(size);
  for (int64_t h = 0, at = 0; h < info.heads; ++h, at += rows * row) {
    if (info.keys) {
      each(at, row);
      continue;
    }
    if (bytes)
      each(at, (int64_t)MILLE_STEP_BYTES);
    const int64_t first = bytes ? at + rows * MILLE_STEP_BYTES : at;
    for (int64_t d = 0; d < size; d += columns)
      each(first + d * rows * element, columns * element);
  }
}

} // namespace mille
