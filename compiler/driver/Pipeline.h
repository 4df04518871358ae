// The pipeline from the path of a model to a package on disk.
// Must only call the rooms in their order; the rooms do the work.
#pragma once
#include "compiler/driver/Compile.h"

namespace mille {

// Compiles the model to a package in request.folder, or up to
// request.stopAfter, whose IR it writes to `ir`. Errors are emitted in
// `context`.
Status compileModel(const CompileRequest &request, mlir::MLIRContext &context,
                    llvm::raw_ostream &ir);

// Runs `work` and turns an exception into an error and a status.
Status withoutExceptions(mlir::MLIRContext &context,
                         llvm::function_ref<Status()> work);

// Registers every dialect that a model or a program may use.
void registerDialects(mlir::DialectRegistry &registry);

// An error that is about no file.
mlir::InFlightDiagnostic emitError(mlir::MLIRContext &context);

} // namespace mille
