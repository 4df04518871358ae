// Prints the kernels of Hopper for the kernel ops of a file: as MLIR, as PTX,
// or what ptxas says of them.
//
//   kernel-printer nvvm|ptx|facts|tiles FILE [TILE]
//
// TILE: columns,blocks,cluster,pingPong or few or few,cluster,stages; else the
// generator's choice.
#include "compiler/kernels/ReadSpec.h"
#include "compiler/nvvm/Emit.h"
#include "compiler/nvvm/Ptxas.h"
#include "compiler/nvvm/Tiles.h"

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

// The kernel with this tile: "few" for few rows, "best" for the generator's.
Kernel write(mlir::MLIRContext &context, const KernelSpec &spec,
             const std::string &words) {
  MatmulTile tile;
  FewRowsTile few = fewRowsTile(spec.matmul);
  int pingPong = 0;
  if (sscanf(words.c_str(), "%u,%u,%u,%d", &tile.columns, &tile.blocks,
             &tile.cluster, &pingPong) == 4) {
    tile.pingPong = pingPong;
    return writeMatmul(context, spec, tile, "matmul");
  }
  if (sscanf(words.c_str(), "few,%u,%u", &few.cluster, &few.stages) == 2 ||
      words == "few")
    return writeFewRows(context, spec, few, "matmul");
  return writeMatmul(context, spec, matmulTiles(spec).front(), "matmul");
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  mlir::MLIRContext context;
  context.loadDialect<kernel::KernelDialect, mlir::func::FuncDialect,
                      mlir::arith::ArithDialect, mlir::math::MathDialect>();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[2], &context);
  int failures = !module;
  if (module)
    module->walk([&](kernel::MatmulOp op) {
      KernelSpec spec;
      if (failed(readSpec(op, spec))) {
        ++failures;
        return;
      }
      if (std::string why = whyNoMatmul(spec); !why.empty())
        outs() << "declined: " << why << "\n";
      else if (llvm::StringRef(argv[1]) == "tiles")
        outs() << explainTile(spec, matmulTiles(spec).front()) << "\n"
               << explainTile(spec.matmul, fewRowsTile(spec.matmul)) << "\n";
      else if (!print(argv[1], write(context, spec, argc > 3 ? argv[3] : "")))
        ++failures;
    });
  return failures != 0;
}
