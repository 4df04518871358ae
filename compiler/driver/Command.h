// What each sub-command of `mille` does. A program calls runMille only.
// Must not parse options.
#pragma once
#include "compiler/Status.h"
#include "compiler/driver/Options.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

namespace mille {

// Runs `mille` with these arguments and returns its exit status.
int runMille(int argc, const char *const *argv);

Status compileCommand(const CompileWords &options, mlir::MLIRContext &context,
                      llvm::raw_ostream &out);
// compile --tune. Compiles the model once per rank of tiles (Generate.h,
// tilesOf), and runs each package in alternation with the one of rank 0 (batch
// 1, 1 thread, 128 tokens or as many as the model takes). Then compiles the
// model with the fastest tile of each kernel. A tile of another rank replaces
// that of rank 0 only if it takes 2 % less time. Tiles do not change the bits
// of results.
Status tuneCommand(const CompileOptions &options, mlir::MLIRContext &context,
                   llvm::raw_ostream &out);
Status initCommand(const InitOptions &options, mlir::MLIRContext &context,
                   llvm::raw_ostream &out);
Status runCommand(const RunOptions &options, mlir::MLIRContext &context,
                  llvm::raw_ostream &out);
Status verifyCommand(const VerifyOptions &options, mlir::MLIRContext &context,
                     llvm::raw_ostream &out);
Status inspectCommand(const InspectOptions &options, mlir::MLIRContext &context,
                      llvm::raw_ostream &out);
Status analyzeCommand(const AnalyzeOptions &options, mlir::MLIRContext &context,
                      llvm::raw_ostream &out);
Status benchCommand(const BenchOptions &given, mlir::MLIRContext &context,
                    llvm::raw_ostream &out);
Status reportCommand(const ReportOptions &options, mlir::MLIRContext &context,
                     llvm::raw_ostream &out);
// Continues a text, a conversation or ids, token by token.
Status generateCommand(const GenerateOptions &options,
                       mlir::MLIRContext &context, llvm::raw_ostream &out);
Status tokensCommand(const TokensOptions &options, mlir::MLIRContext &context,
                     llvm::raw_ostream &out);
// Trains on a file of tokens, and saves checkpoints.
Status trainCommand(const TrainOptions &options, mlir::MLIRContext &context,
                    llvm::raw_ostream &out);
// Writes a checkpoint as a Hugging Face folder.
Status exportCommand(const ExportOptions &options, mlir::MLIRContext &context,
                     llvm::raw_ostream &out);
Status devicesCommand(const DevicesOptions &options, mlir::MLIRContext &context,
                      llvm::raw_ostream &out);

} // namespace mille
