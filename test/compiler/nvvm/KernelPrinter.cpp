// Prints the kernels of Hopper for the kernel ops of a file: as MLIR, as PTX,
// or what ptxas says of them.
//
//   kernel-printer nvvm|ptx|facts|tiles FILE [TILE]   (Inputs/Kernels.h)
#include "compiler/nvvm/Emit.h"
#include "compiler/nvvm/Ptxas.h"
#include "test/compiler/nvvm/Inputs/Kernels.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

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
  int failures = 0;
  const bool read = test::eachMatmul(
      argv[2], [&](mlir::MLIRContext &context, const KernelSpec &spec) {
        if (llvm::StringRef(argv[1]) == "tiles")
          outs() << explainTile(spec, matmulTiles(spec).front()) << "\n"
                 << explainTile(spec.matmul, fewRowsTile(spec.matmul)) << "\n";
        else if (!print(argv[1], test::writeWithTile(context, spec,
                                                     argc > 3 ? argv[3] : "")))
          ++failures;
      });
  return !read || failures;
}
