// nvvm-attention FILE.mlir FUNCTION [RANK]: prints the module of the attention
// or rows kernel in a function, or why the generator leaves it.
#include "compiler/kernels/ReadSpec.h"
#include "compiler/nvvm/Attention.h"
#include "dialects/kernel/OpList.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <cstdlib>

using namespace mille;

static int print(mlir::MLIRContext &context, const KernelSpec &spec,
                 const std::string &name, unsigned rank) {
  std::string why = nvvm::whyNotAttention(spec);
  if (!why.empty()) {
    llvm::outs() << name << ": " << why << "\n";
    return 0;
  }
  nvvm::Launch launch;
  launch.entry = name;
  auto tiles = nvvm::attentionTiles(spec);
  if (rank >= tiles.size())
    return 1;
  auto module = nvvm::makeAttention(context, spec, tiles[rank], launch);
  llvm::outs() << "// " << nvvm::wordsOf(tiles[rank]) << ", "
               << launch.sharedBytes << " bytes shared\n";
  module->print(llvm::outs());
  return mlir::failed(mlir::verify(*module));
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  mlir::MLIRContext context;
  context.loadDialect<kernel::KernelDialect, mlir::func::FuncDialect,
                      mlir::arith::ArithDialect, mlir::math::MathDialect>();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  auto function =
      module ? module->lookupSymbol<mlir::func::FuncOp>(argv[2]) : nullptr;
  if (!function)
    return 2;
  int result = 2;
  function.walk([&](mlir::Operation *op) {
    KernelSpec spec;
    if (kernel::isGenerated(op) && succeeded(readSpec(op, spec)))
      result = print(context, spec, argv[2], argc > 3 ? std::atoi(argv[3]) : 0);
  });
  return result;
}
