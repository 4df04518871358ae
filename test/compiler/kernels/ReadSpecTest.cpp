// Reads a spec from each kernel of a file of programs that verify: what kernels
// require beside the laws of the dialect. argv[1]: the file, with what is
// expected of each program.
//
// RUN: %programs/kernels-read-spec %S/Inputs/read-spec.mlir | FileCheck %s
// CHECK: 10 programs, 1 kernels can be made
#include "compiler/kernels/ReadSpec.h"

#include "dialects/kernel/Kernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/ToolUtilities.h"
#include "llvm/Support/SourceMgr.h"

#include <cstdio>

using namespace mille;

int main(int count, char **arguments) {
  std::string why;
  auto file = mlir::openInputFile(count == 2 ? arguments[1] : "-", &why);
  if (!file)
    return fprintf(stderr, "%s\n", why.c_str()), 1;
  int programs = 0, kernels = 0;
  auto read = [&](std::unique_ptr<llvm::MemoryBuffer> chunk,
                  llvm::raw_ostream &) {
    mlir::MLIRContext context;
    context.printOpOnDiagnostic(false);
    context.loadDialect<kernel::KernelDialect, mlir::func::FuncDialect,
                        mlir::arith::ArithDialect, mlir::math::MathDialect>();
    llvm::SourceMgr source;
    source.AddNewSourceBuffer(std::move(chunk), llvm::SMLoc());
    mlir::SourceMgrDiagnosticVerifierHandler expected(source, &context);
    auto module = mlir::parseSourceFile<mlir::ModuleOp>(source, &context);
    if (!module)
      return mlir::failure();
    ++programs;
    module->walk([&](mlir::Operation *op) {
      KernelSpec spec;
      if (llvm::isa<kernel::KernelDialect>(op->getDialect()) &&
          !llvm::isa<kernel::YieldOp>(op))
        kernels += mlir::succeeded(readSpec(op, spec));
    });
    return expected.verify();
  };
  if (mlir::failed(mlir::splitAndProcessBuffer(std::move(file), read,
                                               llvm::outs(), "// -----")))
    return 1;
  printf("%d programs, %d kernels can be made\n", programs, kernels);
}
