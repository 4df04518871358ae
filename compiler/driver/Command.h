// What each sub-command of `mille` does. tools/mille.cpp calls runMille only.
// Must not parse options.
#pragma once
#include "compiler/Status.h"
#include "compiler/driver/Options.h"
#include "compiler/interpret/Interpret.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

namespace mille {

struct Package;
class Scratch;

// The whole of `mille`: its exit status.
int runMille(int argc, const char *const *argv);

Status initCommand(const InitOptions &options, mlir::MLIRContext &context,
                   llvm::raw_ostream &out);
Status runCommand(const RunOptions &options, mlir::MLIRContext &context);
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
Status listDevices(const DevicesOptions &options, llvm::raw_ostream &out);

// What --target and --device mean together, as Compiled::open takes it; and
// whether a package has that.
Status codeFor(const std::string &target, const std::string &device,
               std::string &code);
Status checkCode(const Package &package, const std::string &code);

// Runs a package on named tensors. isa: "" for the best of this machine.
struct RunWishes {
  bool keepPadding = false, checkHash = false; // see Compiled
};
Status runCompiled(const Package &package, const std::string &isa,
                   unsigned threads, const Values &inputs,
                   mlir::MLIRContext &context, Values &outputs,
                   RunWishes wishes = {});

// The rewrites of a package measured again; Status::bug where one moves more
// than it says.
Status verifyCertificate(const Package &package, unsigned threads,
                         mlir::MLIRContext &context, llvm::raw_ostream &out);

// Of the images among the inputs; none where there is none.
std::optional<ImageSize> imageSizeOf(const Values &inputs);

// Compiles `model` into `scratch` for this machine (or `target`), for images of
// the size at hand where any will do.
Status compileForOneRun(const std::string &model, bool hiddenStates,
                        std::optional<ImageSize> imageSize,
                        const std::string &target, Scratch &scratch,
                        mlir::MLIRContext &context, Package &package);

} // namespace mille
