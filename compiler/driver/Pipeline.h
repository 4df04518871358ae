// The staircase: from the path of a model to a package on disk.
// Must not do what a room does; it says in which order rooms work.
#pragma once
#include "compiler/driver/Compile.h"

namespace mille {

// Climbs from the model to a package in request.folder, or to
// request.stopAfter, whose IR goes to `ir`. What is wrong is emitted in
// `context`.
Status compileModel(const CompileRequest &request, mlir::MLIRContext &context,
                    llvm::raw_ostream &ir);

// Runs `work`; an exception becomes an error and a status.
Status withoutExceptions(mlir::MLIRContext &context,
                         llvm::function_ref<Status()> work);

// Every dialect that a model or a program may use, in a context of its own.
void registerDialects(mlir::DialectRegistry &registry);

// An error that is about no file.
mlir::InFlightDiagnostic emitError(mlir::MLIRContext &context);

} // namespace mille
