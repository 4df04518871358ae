// Failures that are about no file, and exceptions as statuses.
// Must not print.
#include "compiler/driver/Failures.h"

#include <new>

using namespace mille;

mlir::InFlightDiagnostic mille::emitError(mlir::MLIRContext &context) {
  return mlir::emitError(mlir::UnknownLoc::get(&context));
}

Status mille::fail(mlir::MLIRContext &context, llvm::StringRef why,
                   Status status) {
  auto [sentence, help] = why.split('\n');
  auto error = emitError(context) << sentence;
  if (!help.empty())
    error.attachNote() << "help: " << help;
  return status;
}

Status mille::withoutExceptions(mlir::MLIRContext &context,
                                llvm::function_ref<Status()> work) {
  try {
    return work();
  } catch (const std::bad_alloc &) {
    emitError(context) << "out of memory";
    return Status::machine;
  } catch (const std::exception &exception) {
    emitError(context) << "internal failure (" << exception.what() << ")";
    return Status::bug;
  }
}
