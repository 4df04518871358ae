// mille-reduce: MLIR's reducer with Mille's dialects and passes. No logic.
#include "compiler/fuse/Passes.h"
#include "compiler/lower/Passes.h"
#include "compiler/plan/Passes.h"
#include "compiler/rewrite/Passes.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "mlir/Transforms/Passes.h"
#include "tools/Dialects.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mille::insertDialects(registry);
  mlir::registerTransformsPasses();
  mille::registerFusePasses();
  mille::rewrite::registerRewritePasses();
  mille::plan::registerPlanPasses();
  mille::lower::registerLowerPasses();
  mlir::MLIRContext context(registry);
  return failed(mlir::mlirReduceMain(argc, argv, context));
}
