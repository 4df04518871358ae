// Failures that are about no file, and exceptions as statuses.
// Must not print.
#pragma once
#include "compiler/Status.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mille {

// An error that is about no file.
mlir::InFlightDiagnostic emitError(mlir::MLIRContext &context);
// Tells the first line of `why` as an error, and a second one as its help.
// Returns `status`.
Status fail(mlir::MLIRContext &context, llvm::StringRef why, Status status);

// Runs `work` and turns an exception into an error and a status.
Status withoutExceptions(mlir::MLIRContext &context,
                         llvm::function_ref<Status()> work);

} // namespace mille
