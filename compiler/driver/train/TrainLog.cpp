// One JSON object a line, with numbers that read back the same.
#include "compiler/driver/train/TrainLog.h"
#include "compiler/driver/Progress.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mille;

TrainLog::TrainLog(const std::string &path, bool more, int64_t steps)
    : steps(steps) {
  if (path.empty())
    return;
  file = std::make_unique<llvm::raw_fd_ostream>(
      path, opened,
      more ? llvm::sys::fs::CD_OpenAlways : llvm::sys::fs::CD_CreateAlways,
      llvm::sys::fs::FA_Write,
      more ? llvm::sys::fs::OF_Append : llvm::sys::fs::OF_None);
  if (opened)
    file = nullptr;
}

double TrainLog::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

void TrainLog::step(const mille_step_report &report) {
  labels += report.labels;
  const double since = seconds();
  showProgress(llvm::formatv(
      "step {0} of {1}: loss {2:f4}, rate {3:e2}, {4:f0} labels/s", report.step,
      steps, report.loss, report.rate, since > 0 ? double(labels) / since : 0));
  if (!file)
    return;
  *file << "{\"step\":" << report.step
        << llvm::format(",\"loss\":%.17g", report.loss)
        << ",\"labels\":" << report.labels
        << llvm::format(",\"gradient_norm\":%.17g", report.gradient_norm)
        << llvm::format(",\"rate\":%.17g", report.rate)
        << llvm::format(",\"seconds\":%.3f}\n", since);
  file->flush();
}

void TrainLog::evaluated(int64_t step, double loss, int64_t count) {
  if (!file)
    return;
  *file << "{\"step\":" << step << llvm::format(",\"eval_loss\":%.17g", loss)
        << ",\"labels\":" << count << "}\n";
  file->flush();
}

std::string TrainLog::close() {
  clearProgress();
  if (opened)
    return opened.message();
  if (!file)
    return "";
  file->close();
  std::error_code error = file->error();
  file->clear_error();
  return error ? error.message() : "";
}
