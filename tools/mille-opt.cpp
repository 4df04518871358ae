// mille-opt: one pass, for tests and for looking. No logic.
#include "compiler/differentiate/Passes.h"
#include "compiler/fuse/Passes.h"
#include "compiler/import/Text.h"
#include "compiler/lower/Passes.h"
#include "compiler/plan/Passes.h"
#include "compiler/rewrite/Passes.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "tools/Dialects.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

// MlirOptMain, of a text that the parser may see.
static mlir::LogicalResult run(llvm::StringRef input, llvm::StringRef output,
                               mlir::DialectRegistry &registry) {
  std::string problem;
  auto text = mlir::openInputFile(input, &problem);
  auto file = text ? mlir::openOutputFile(output, &problem) : nullptr;
  if (!file) {
    llvm::errs() << problem << "\n";
    return mlir::failure();
  }
  mlir::MLIRContext context;
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler messages(sources, &context);
  if (failed(mille::import::checkText(text->getBuffer(), input, context)) ||
      failed(MlirOptMain(file->os(), std::move(text), registry,
                         mlir::MlirOptMainConfig::createFromCLOptions())))
    return mlir::failure();
  file->keep();
  return mlir::success();
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mille::insertDialects(registry);
  mlir::registerTransformsPasses();
  mille::differentiate::registerDifferentiatePasses();
  mille::registerFusePasses();
  mille::registerFusePipelines();
  mille::rewrite::registerRewritePasses();
  mille::plan::registerPlanPasses();
  mille::lower::registerLowerPasses();
  llvm::InitLLVM init(argc, argv);
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "mille pass driver\n", registry);
  return mlir::asMainReturnCode(run(input, output, registry));
}
