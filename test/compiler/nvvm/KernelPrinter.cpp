// Prints the kernels of Hopper for the kernel ops of a file: as MLIR, as PTX,
// or what ptxas says of them.
//
//   kernel-printer nvvm|ptx|facts|launch FILE [columns,blocks,cluster,pingPong]
#include "compiler/kernels/ReadSpec.h"
#include "compiler/nvvm/Emit.h"
#include "compiler/nvvm/Matmul.h"
#include "compiler/nvvm/Ptxas.h"

#include "dialects/kernel/Kernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <cstdlib>

using namespace mille;
using namespace mille::nvvm;
using llvm::outs;
using llvm::StringRef;

namespace {

std::string textOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

bool print(StringRef what, Kernel kernel) {
  const std::string nvvm = textOf(*kernel.module);
  if (what == "nvvm")
    outs() << nvvm;
  std::string ptx, cubin, problem;
  PtxasFacts facts;
  if (!makePtx(*kernel.module, ptx, problem) ||
      (what == "facts" && !assemble(ptx, cubin, facts, problem))) {
    outs() << "error: " << problem << "\n";
    return false;
  }
  if (what == "ptx")
    outs() << ptx;
  if (what == "facts") {
    outs() << facts.registers << " registers, " << facts.spillBytes
           << " bytes spilled, " << facts.warnings.size()
           << " bytes of warnings, " << cubin.size() << " bytes of cubin\n"
           << facts.warnings;
    for (StringRef name : {"mma_async", "fence", "commit", "wait"}) {
      const int inMlir = StringRef(nvvm).count(("nvvm.wgmma." + name).str()),
                inPtx = StringRef(ptx).count(("wgmma." + name).str());
      outs() << name << ": " << inMlir << " in MLIR, " << inPtx << " in PTX\n";
    }
  }
  return true;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  mlir::MLIRContext context;
  context.loadDialect<kernel::KernelDialect, mlir::func::FuncDialect,
                      mlir::arith::ArithDialect, mlir::math::MathDialect>();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[2], &context);
  MatmulTile tile;
  int pingPong = 0;
  if (argc > 3 && sscanf(argv[3], "%u,%u,%u,%d", &tile.columns, &tile.blocks,
                         &tile.cluster, &pingPong) != 4)
    return 2;
  tile.pingPong = pingPong;
  int failures = !module;
  if (module)
    module->walk([&](kernel::MatmulOp op) {
      KernelSpec spec;
      if (failed(readSpec(op, spec)) ||
          !print(argv[1], writeMatmul(context, spec, tile, "matmul")))
        ++failures;
    });
  return failures != 0;
}
