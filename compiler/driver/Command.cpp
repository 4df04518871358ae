// The whole of `mille`: options in, exit status out.
// Must not know how any command does its work.
#include "compiler/driver/Command.h"

#include "compiler/driver/Console.h"
#include "compiler/driver/Diagnose.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/driver/Progress.h"
#include "compiler/driver/Reproducer.h"

using namespace mille;

Status mille::compileCommand(const CompileOptions &options,
                             mlir::MLIRContext &context,
                             llvm::raw_ostream &out) {
  return compileModel(requestOf(options), context, out);
}

static Status perform(const Options &options, mlir::MLIRContext &context,
                      llvm::raw_ostream &out) {
  switch (options.command) {
  case Command::compile:
    return (options.tune ? tuneCommand : compileCommand)(options.compile,
                                                         context, out);
  case Command::init:
    return initCommand(options.init, context, out);
  case Command::run:
    return runCommand(options.run, context);
  case Command::verify:
    return verifyCommand(options.verify, context, out);
  case Command::inspect:
    return inspectCommand(options.inspect, context, out);
  case Command::analyze:
    return analyzeCommand(options.analyze, context, out);
  case Command::bench:
    return benchCommand(options.bench, context, out);
  case Command::report:
    return reportCommand(options.report, context, out);
  case Command::devices:
    return devicesCommand(options.devices, out);
  case Command::tokens:
    return tokensCommand(options.tokens, context, out);
  case Command::generate:
    return generateCommand(options.generate, context, out);
  case Command::train:
    return trainCommand(options.train, context, out);
  case Command::exportModel:
    return exportCommand(options.exporting, context, out);
  }
  return Status::bug;
}

int mille::runMille(int argc, const char *const *argv) {
  int status = 0;
  std::optional<Options> options = parseCommandLine(argc, argv, status);
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
    outcome = withoutExceptions(
        context, [&] { return perform(*options, context, out); });
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
