// The compiler, as commands reach it. `mille` is two programs, and each has
// these functions: in libexec/mille-compiler they compile (Pipeline.cpp,
// Compile.cpp); in bin/mille they become that program (handover/HandOver.cpp),
// so that what runs a package holds neither LLVM's generators nor Halide.
#pragma once
#include "compiler/driver/Compile.h"

namespace mille {

// Compiles the model to a package in request.folder, or up to
// request.stopAfter, whose IR it writes to `ir`. Errors are emitted in
// `context`. In bin/mille it returns only where the other program is missing:
// the command begins anew, so that nothing may be written before.
Status compileModel(const CompileRequest &request, mlir::MLIRContext &context,
                    llvm::raw_ostream &ir);

// Registers every dialect that a model or a program may use.
void registerDialects(mlir::DialectRegistry &registry);

// The path of the program that compiles: another one may generate other code.
std::string compilerProgram();

} // namespace mille
