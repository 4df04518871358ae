// How steps that only copy rows are cut into tasks.
// Must not look at data.
#pragma once
#include <stdint.h>

namespace mille {

// The rows of a task that only copies: enough to pay for its ticket.
inline int64_t rowsPerTask(int64_t columns) {
  constexpr int64_t floatsPerTask = 1 << 16;
  return columns < floatsPerTask ? floatsPerTask / columns : 1;
}

inline int64_t tasksOf(int64_t rows, int64_t rowsPerTask) {
  return (rows + rowsPerTask - 1) / rowsPerTask;
}

} // namespace mille
