// Whose mistake a failure is; the exit status of `mille`. Rooms emit the text
// as an MLIR diagnostic (location, notes at the other end) and return one of
// these.
#pragma once

namespace mille {

enum class Status {
  done = 0,
  input = 1,       // yours: a model, spec, tensor file
  commandLine = 2, // yours: an option
  machine = 3,     // your machine: memory, disk, missing CPU feature
  bug = 4,         // ours
};

inline bool failed(Status status) { return status != Status::done; }

} // namespace mille
