// mille-opt: one pass, for tests and for looking. No logic.
#include "compiler/fuse/Passes.h"
#include "compiler/lower/Passes.h"
#include "compiler/plan/Passes.h"
#include "compiler/rewrite/Passes.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/transformer/Transformer.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mille::transformer::TransformerDialect,
                  mille::kernel::KernelDialect, mlir::func::FuncDialect,
                  mlir::arith::ArithDialect, mlir::math::MathDialect,
                  mlir::tensor::TensorDialect>();
  mlir::registerTransformsPasses();
  mille::registerFusePasses();
  mille::registerFusePipelines();
  mille::rewrite::registerRewritePasses();
  mille::plan::registerPlanPasses();
  mille::lower::registerLowerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "mille pass driver\n", registry));
}
