// compile(): makes a context, checks the request, runs the pipeline.
// Must not know what a stage does (Pipeline).
#include "compiler/driver/Compile.h"

#include "compiler/differentiate/Passes.h"
#include "compiler/driver/Compiler.h"
#include "compiler/driver/Failures.h"
#include "compiler/driver/program/Targets.h"
#include "compiler/fuse/Boundaries.h"
#include "compiler/kernels/Targets.h"
#include "compiler/rewrite/Passes.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/transformer/Identifier.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace mille;
using llvm::StringRef;

std::string mille::compilerProgram() {
  return llvm::sys::fs::getMainExecutable(nullptr, nullptr);
}

void mille::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<transformer::TransformerDialect, kernel::KernelDialect,
                  mlir::func::FuncDialect, mlir::arith::ArithDialect,
                  mlir::math::MathDialect, mlir::tensor::TensorDialect,
                  mlir::memref::MemRefDialect>();
  differentiate::registerAdjoints(registry);
}

bool mille::isModelName(StringRef name) {
  return isIdentifier(name) && name.size() <= longestIdentifier;
}

// Refuses an option if one of its words is not among `known`.
static bool check(mlir::MLIRContext &context, StringRef option,
                  llvm::ArrayRef<std::string> words,
                  llvm::ArrayRef<StringRef> known) {
  for (const std::string &word : words)
    if (!llvm::is_contained(known, word)) {
      emitError(context) << option << " is '" << word << "' but must be one of "
                         << llvm::join(known, ", ");
      return false;
    }
  return true;
}

// The checks that the command line makes of each word, for callers of the
// library.
static bool check(const CompileOptions &options, mlir::MLIRContext &context) {
  llvm::SmallVector<StringRef> targets{"host"}, rewrites;
  for (const Target &target : knownTargets())
    targets.push_back(target.name);
  for (const rewrite::Law &law : rewrite::laws())
    if (!law.byWord)
      rewrites.push_back(law.name);
  if (!check(context, "targets", options.targets, targets) ||
      !check(context, "requireFused", options.requireFused, boundary::all) ||
      !check(context, "remarks", options.remarks, {"rewrite", "fuse", "plan"}))
    return false;
  if (options.rewrites &&
      !check(context, "rewrites", *options.rewrites, rewrites))
    return false;
  if (options.stopAfter && !rungOf(*options.stopAfter).prints) {
    emitError(context) << "stopAfter is '" << rungOf(*options.stopAfter).name
                       << "' but must be one of " << stagesThatPrint();
    return false;
  }
  if (options.folder.empty() && !options.stopAfter) {
    emitError(context) << "folder is '' but must be a place for the package";
    return false;
  }
  if (options.name.empty() || isModelName(options.name))
    return true;
  emitError(context) << "name is '" << options.name
                     << "' but must be a C identifier of at most 63 characters";
  return false;
}

Status mille::compile(const CompileRequest &request, Diagnostics &diagnostics,
                      llvm::raw_ostream &ir) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false); // a diagnostic shows the file's line
  Reporting reporting(context, diagnostics);
  if (!check(request, context))
    return Status::commandLine;
  return withoutExceptions(context,
                           [&] { return compileModel(request, context, ir); });
}
