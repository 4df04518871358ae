// Prints the kernel of attention, rows or RoPE in each function of a file, or
// why the generator leaves it: as MLIR, its launch, what ptxas says of it, or
// its cubin.
//
//   sequence-kernels nvvm|launch|facts|cubin FILE [FUNCTION [RANK]]
//
// facts appends cubins to the file $CUBINS.
#include "compiler/kernels/ReadSpec.h"
#include "compiler/nvvm/Attention.h"
#include "compiler/nvvm/Emit.h"
#include "compiler/nvvm/Ptxas.h"
#include "compiler/nvvm/Rotate.h"
#include "compiler/nvvm/Rows.h"
#include "compiler/nvvm/StateAttention.h"
#include "dialects/kernel/Joined.h"
#include "dialects/kernel/OpList.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "test/compiler/nvvm/Inputs/Kernels.h"

#include <cstdlib>

using namespace mille;
using namespace mille::nvvm;
using llvm::outs;
using llvm::StringRef;

namespace {

struct Made {
  Kernel kernel;
  std::string tile, problem;
};

Made make(mlir::MLIRContext &context, const KernelSpec &spec,
          const std::string &name, unsigned rank) {
  if (spec.kind == KernelKind::rows) {
    std::string why = whyNotRows(spec);
    if (!why.empty())
      return {{}, "", why};
    return {writeRows(context, spec, name), wordsOf(RowsTile(spec)), ""};
  }
  if (spec.kind == KernelKind::rotate) {
    std::string why = whyNotRotate(spec);
    if (!why.empty())
      return {{}, "", why};
    return {writeRotate(context, spec, name), "RoPE", ""};
  }
  std::string why = whyNotAttention(spec);
  if (!why.empty())
    return {{}, "", why};
  if (spec.attention.past) // rank 0: of few rows
    return {writeStateAttention(context, spec, rank == 0, name),
            wordsOfStateAttention(spec), ""};
  auto tiles = attentionTiles(spec);
  const AttentionTile &tile = tiles[std::min<size_t>(rank, tiles.size() - 1)];
  return {writeAttention(context, spec, tile, name), wordsOf(tile), ""};
}

std::string textOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

void printLaunch(const Launch &launch) {
  auto print = [](const mille_amount &amount) {
    static const char *const counts[] = {"1", "rows", "sequences", "queries",
                                         "keys"};
    outs() << counts[amount.count] << "*" << amount.times << "/" << amount.per;
  };
  outs() << launch.threads << " threads, " << launch.sharedBytes
         << " bytes shared, " << launch.blocksPerUnit
         << " blocks a unit, tiles";
  for (const mille_amount &tiles : launch.tiles)
    print((outs() << " ", tiles));
  outs() << "\n";
  for (const mille_launch_argument &argument : launch.arguments) {
    outs() << "  kind " << argument.kind << " number " << argument.number;
    for (uint32_t d = 0; d < argument.rank; ++d) {
      print((outs() << (d ? ", " : ": "), argument.extent[d]));
      outs() << " box " << argument.box[d];
      if (d)
        print((outs() << " stride ", argument.stride[d]));
    }
    outs() << "\n";
  }
}

bool printFacts(Kernel &kernel, bool code) {
  const std::string nvvm = textOf(*kernel.module);
  std::string ptx, cubin, problem, help;
  PtxasFacts facts;
  if (!makePtx(*kernel.module, ptx, problem) ||
      !assemble(ptx, cubin, facts, problem, help)) {
    outs() << "  error: " << problem << "\n";
    return false;
  }
  if (code) {
    outs() << cubin;
    return true;
  }
  test::keepCubin(cubin);
  bool copied = false; // by LLVM, which does not know that they are convergent
  for (StringRef name : {"mma_async", "fence", "commit", "wait"})
    copied |=
        StringRef(nvvm).count(("nvvm.wgmma." + name).str()) +
            (name == "mma_async" ? StringRef(nvvm).count("{ .reg .pred p;")
                                 : 0) !=
        StringRef(ptx).count(("wgmma." + name).str());
  outs() << "  " << facts.registers << " registers, " << facts.spillBytes
         << " bytes spilled, wgmma " << (copied ? "copied" : "as written")
         << ", warnings: " << (facts.warnings.empty() ? "none" : "some") << ", "
         << test::deviceFencesIn(ptx) << " fences of the device\n"
         << facts.warnings;
  return true;
}

bool print(StringRef what, StringRef name, Made made) {
  if (!made.problem.empty()) {
    outs() << name << ": left: " << made.problem << "\n";
    return true;
  }
  if (failed(mlir::verify(*made.kernel.module)))
    return false;
  if (what == "cubin")
    return printFacts(made.kernel, true);
  outs() << (what == "nvvm" ? "// " : "") << name << ": " << made.tile << "\n";
  if (what == "nvvm")
    outs() << textOf(*made.kernel.module);
  else if (what == "launch")
    printLaunch(made.kernel.launch);
  else
    return printFacts(made.kernel, false);
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
  int failures = !module;
  if (module)
    module->walk([&](mlir::Operation *op) {
      auto function = op->getParentOfType<mlir::func::FuncOp>();
      if (!mlir::isa<kernel::AttentionOp, kernel::LinearAttentionOp,
                     kernel::RotateOp, kernel::RowsOp>(op) ||
          kernel::isJoined(op) || (argc > 3 && function.getName() != argv[3]))
        return;
      KernelSpec spec;
      const unsigned rank = argc > 4 ? std::atoi(argv[4]) : 0;
      if (failed(readSpec(op, spec)) ||
          !print(argv[1], function.getName(),
                 make(context, spec, function.getName().str(), rank)))
        ++failures;
    });
  return failures != 0;
}
