// What a training says while it runs: a line of progress, a file of JSON lines.
// Must not stop the training: errors of the file are told at the end.
#pragma once
#include "runtime/mille.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <memory>
#include <string>

namespace mille {

class TrainLog {
public:
  // path: "" for no file. more: adds to a file that is there.
  TrainLog(const std::string &path, bool more, int64_t steps);

  void step(const mille_step_report &report);
  void evaluated(int64_t step, double loss, int64_t labels);
  // Why the file was not written; "" if it was.
  std::string close();

private:
  double seconds() const;
  std::unique_ptr<llvm::raw_fd_ostream> file;
  std::error_code opened;
  int64_t steps, labels = 0;
  std::chrono::steady_clock::time_point begin =
      std::chrono::steady_clock::now();
};

} // namespace mille
