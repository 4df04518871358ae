// Prints the kernels of Hopper for the kernel ops of a file: as MLIR, as PTX
// (behind their launch), or what ptxas says of them.
//
//   kernel-printer nvvm|ptx|launch|facts|tiles|object FILE [TILE]
//
// TILE: as Inputs/Kernels.h says. facts appends cubins to the file $CUBINS.
#include "compiler/nvvm/Emit.h"
#include "compiler/nvvm/Generate.h"
#include "compiler/nvvm/Ptxas.h"
#include "test/compiler/nvvm/Inputs/Kernels.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
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
  if (std::string help; !assemble(ptx, cubin, facts, problem, help)) {
    outs() << "error: " << problem << "\n";
    return false;
  }
  test::keepCubin(cubin);
  outs() << facts.registers << " registers, " << facts.spillBytes
         << " bytes spilled, " << facts.warnings.size()
         << " bytes of warnings, " << test::deviceFencesIn(ptx)
         << " fences of the device, " << cubin.size() << " bytes of cubin\n"
         << facts.warnings;
  for (StringRef name : {"mma_async", "fence", "commit", "wait"}) {
    const int inMlir = StringRef(nvvm).count(("wgmma." + name).str()),
              inPtx = StringRef(ptx).count(("wgmma." + name).str());
    outs() << name << ": " << inMlir << " in MLIR, " << inPtx << " in PTX"
           << (inMlir == inPtx ? "" : ": differs") << "\n";
  }
  return true;
}

// The launch in a line of JSON, for benchmarks/cuda_tiles.py.
void printLaunch(const Launch &launch) {
  auto amountOf = [](const mille_amount &of) {
    return llvm::json::Array{of.count, of.times, of.per};
  };
  llvm::json::Array tiles, arguments;
  for (const mille_amount &of : launch.tiles)
    tiles.push_back(amountOf(of));
  for (const mille_launch_argument &argument : launch.arguments) {
    llvm::json::Array dimensions;
    for (uint32_t d = 0; d < argument.rank; ++d)
      dimensions.push_back(llvm::json::Array{amountOf(argument.extent[d]),
                                             amountOf(argument.stride[d]),
                                             argument.box[d]});
    arguments.push_back(
        llvm::json::Object{{"kind", argument.kind},
                           {"number", argument.number},
                           {"amount", amountOf(argument.amount)},
                           {"dimensions", std::move(dimensions)}});
  }
  outs() << llvm::json::Value(
                llvm::json::Object{{"entry", launch.entry},
                                   {"threads", launch.threads},
                                   {"cluster", launch.cluster},
                                   {"shared", launch.sharedBytes},
                                   {"tiles", std::move(tiles)},
                                   {"arguments", std::move(arguments)}})
         << "\n";
}

bool print(StringRef what, Kernel &kernel) {
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
  if (what == "launch")
    printLaunch(kernel.launch);
  if (what == "facts")
    return printFacts(nvvm, ptx);
  outs() << ptx;
  return true;
}

bool printObject(const KernelSpec &spec, bool few) {
  const Target &target = *targetNamed("cuda");
  std::string object;
  KernelReport report;
  if (!nvvmGenerator().generate(
          {spec, target, "mille_k_some_cuda_argv", few, 0, false}, object,
          report)) {
    outs() << "error: " << report.problem << "\n";
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
        if (what == "tiles" && isOfParts(spec.matmul))
          outs() << explainParts(spec) << "\n";
        else if (what == "tiles" && spec.matmul.experts)
          outs() << explainExperts(spec.matmul) << "\n";
        else if (what == "tiles")
          outs() << explainTile(spec, matmulTiles(spec).front()) << "\n"
                 << explainTile(spec.matmul, fewRowsTile(spec.matmul)) << "\n";
        else if (what == "object")
          failures += !printObject(spec, tile == "few");
        else
          for (Kernel first = test::writeWithTile(context, spec, tile),
                      *one = &first;
               one; one = one->then.get())
            failures += !print(what, *one);
      });
  return !read || failures;
}
