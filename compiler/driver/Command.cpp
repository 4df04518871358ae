// The whole of `mille`: options in, exit status out.
// Must not know how any command does its work.
#include "compiler/driver/Command.h"

#include "compiler/driver/Commands.h"
#include "compiler/driver/Compiler.h"
#include "compiler/driver/Console.h"
#include "compiler/driver/Diagnose.h"
#include "compiler/driver/Failures.h"
#include "compiler/driver/Progress.h"
#include "compiler/driver/Reproducer.h"

using namespace mille;

int mille::runMille(int argc, const char *const *argv) {
  int status = 0;
  std::optional<Options> options =
      parseCommandLine(argc, argv, commands(), status);
  if (!options)
    return status;
  watchForCrashes(options->line);
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false); // a diagnostic shows the file's line

  std::error_code error;
  llvm::raw_fd_ostream out("-", error);
  Status outcome;
  {
    Diagnose diagnose(llvm::errs(), llvm::errs().has_colors());
    Reporting reporting(context, diagnose);
    outcome = withoutExceptions(context, [&] {
      return options->command->perform(*options, context, out);
    });
    clearProgress();
  }
  out.flush();
  if (out.has_error() && !failed(outcome)) {
    sayError("cannot write to the standard output: " + out.error().message());
    outcome = Status::machine;
  }
  out.clear_error();
  if (outcome == Status::bug)
    leaveReproducer();
  return static_cast<int>(outcome);
}
