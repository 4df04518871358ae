// A folder of files that vanishes when the user interrupts the process.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mille::link {

// While it lives, SIGINT, SIGTERM and SIGHUP remove the folder and the files in
// it (not deeper), then `made` folders around it if they are empty, and end the
// process as they would have. One at a time: a second one does nothing.
class RemovedWhenInterrupted {
public:
  RemovedWhenInterrupted(llvm::StringRef folder,
                         llvm::ArrayRef<std::string> made);
  ~RemovedWhenInterrupted();
  RemovedWhenInterrupted(const RemovedWhenInterrupted &) = delete;

private:
  bool armed = false;
};

} // namespace mille::link
