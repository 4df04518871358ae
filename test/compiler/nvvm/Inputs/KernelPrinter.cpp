// Prints the kernels of Hopper for the kernel ops of a file: as MLIR, as PTX,
// or what ptxas says of them.
//
//   kernel-printer nvvm|ptx|facts|tiles|object FILE [TILE]   (Inputs/Kernels.h)
#include "compiler/nvvm/Emit.h"
#include "compiler/nvvm/Generate.h"
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

// What ptxas says, and whether LLVM has copied or dropped a product, whose asm
// it does not know to be convergent.
bool printFacts(const std::string &nvvm, const std::string &ptx) {
  std::string cubin, problem;
  PtxasFacts facts;
  if (!assemble(ptx, cubin, facts, problem)) {
    outs() << "error: " << problem << "\n";
    return false;
  }
  outs() << facts.registers << " registers, " << facts.spillBytes
         << " bytes spilled, " << facts.warnings.size()
         << " bytes of warnings, " << cubin.size() << " bytes of cubin\n"
         << facts.warnings;
  for (StringRef name : {"mma_async", "fence", "commit", "wait"}) {
    const int inMlir = StringRef(nvvm).count(("wgmma." + name).str()),
              inPtx = StringRef(ptx).count(("wgmma." + name).str());
    outs() << name << ": " << inMlir << " in MLIR, " << inPtx << " in PTX"
           << (inMlir == inPtx ? "" : ": differs") << "\n";
  }
  return true;
}

bool print(StringRef what, Kernel kernel) {
  const std::string nvvm = textOf(*kernel.module);
  std::string ptx, problem;
  if (what == "nvvm") {
    outs() << nvvm;
    return true;
  }
  if (!makePtx(*kernel.module, ptx, problem)) {
    outs() << "error: " << problem << "\n";
    return false;
  }
  if (what == "facts")
    return printFacts(nvvm, ptx);
  outs() << ptx;
  return true;
}

bool printObject(const KernelSpec &spec, bool few) {
  const Target &target = *targetNamed("cuda");
  std::string object, problem;
  if (!nvvmGenerator().generate(
          {spec, target, "mille_k_some_cuda_argv", few, 0, false}, object,
          problem)) {
    outs() << "error: " << problem << "\n";
    return false;
  }
  outs() << object;
  return true;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  int failures = 0;
  const bool read = test::eachMatmul(
      argv[2], [&](mlir::MLIRContext &context, const KernelSpec &spec) {
        const StringRef what = argv[1];
        const std::string tile = argc > 3 ? argv[3] : "";
        if (what == "tiles" && spec.matmul.experts)
          outs() << explainExperts() << "\n";
        else if (what == "tiles" && isOfParts(spec.matmul))
          outs() << explainParts(spec) << "\n";
        else if (what == "tiles")
          outs() << explainTile(spec, matmulTiles(spec).front()) << "\n"
                 << explainTile(spec.matmul, fewRowsTile(spec.matmul)) << "\n";
        else if (what == "object")
          failures += !printObject(spec, tile == "few");
        else
          failures += !print(what, test::writeWithTile(context, spec, tile));
      });
  return !read || failures;
}
