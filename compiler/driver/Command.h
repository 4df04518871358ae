// What each sub-command of `mille` does. tools/mille.cpp calls runMille only.
// Must not parse options.
#pragma once
#include "compiler/Status.h"
#include "compiler/driver/Options.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

namespace mille {

// The whole of `mille`: its exit status.
int runMille(int argc, const char *const *argv);

Status compileCommand(const CompileOptions &options, mlir::MLIRContext &context,
                      llvm::raw_ostream &out);
Status runCommand(const RunOptions &options, mlir::MLIRContext &context);
Status verifyCommand(const VerifyOptions &options, mlir::MLIRContext &context,
                     llvm::raw_ostream &out);
Status inspectCommand(const InspectOptions &options, mlir::MLIRContext &context,
                      llvm::raw_ostream &out);
Status benchCommand(const BenchOptions &options, llvm::raw_ostream &out);
Status reportCommand(const ReportOptions &options, llvm::raw_ostream &out);
Status listDevices(llvm::raw_ostream &out);

} // namespace mille
