// Prints the messages and the progress of the command `mille`.
// Must not be used by library code, which prints nothing.
#include "compiler/driver/Console.h"

#include "compiler/driver/Diagnose.h"
#include "compiler/driver/Progress.h"
#include "compiler/driver/Reproducer.h"

using namespace mille;

void mille::sayError(const llvm::Twine &text) {
  Diagnostic error;
  error.text = text.str();
  Diagnose(llvm::errs(), llvm::errs().has_colors()).report(error);
}

void mille::sayHelp(const llvm::Twine &text) {
  llvm::errs() << "help: " << text << '\n';
}

Status mille::refuseOptions(const llvm::Twine &text, const llvm::Twine &help) {
  sayError(text);
  if (!help.isTriviallyEmpty())
    sayHelp(help);
  return Status::commandLine;
}

std::string mille::sayBytes(double bytes) {
  static const char *units[] = {"B", "KB", "MB", "GB", "TB"};
  unsigned unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit)
    bytes /= 1024;
  char text[32];
  bool fraction = unit > 0 && bytes < 100 && bytes != static_cast<int>(bytes);
  snprintf(text, sizeof text, fraction ? "%.1f %s" : "%.0f %s", bytes,
           units[unit]);
  return text;
}

CompileRequest mille::requestOf(const CompileOptions &options) {
  CompileRequest request(options);
  request.observer.working = [](const std::string &what) {
    what.empty() ? clearProgress() : showProgress(what);
  };
  request.observer.imported = rememberModel;
  request.observer.breaks = injectedFault;
  return request;
}
