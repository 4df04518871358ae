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

CompileRequest mille::requestOf(const CompileOptions &options) {
  CompileRequest request(options);
  request.observer.working = [](const std::string &what) {
    what.empty() ? clearProgress() : showProgress(what);
  };
  request.observer.imported = rememberModel;
  request.observer.breaks = injectedFault;
  return request;
}
