// The staircase: from the path of a model to a package on disk.
// Must not do what a room does; it says in which order rooms work.
#pragma once
#include "compiler/Status.h"
#include "compiler/driver/Options.h"
#include "compiler/import/Import.h"
#include "llvm/Support/raw_ostream.h"

namespace mille {

// Climbs from the model to a package in options.folder, or to
// options.stopAfter, whose IR is printed to `out`.
Status compileModel(const CompileOptions &options, mlir::MLIRContext &context,
                    llvm::raw_ostream &out);

// Every dialect that a model or a program may use.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace mille
