// mille-emulate: runs the kernels of a gpu.module on the CPU and reports races.
// No logic.
#include "compiler/emulate/Written.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

namespace cl = llvm::cl;

static cl::opt<std::string> file(cl::Positional, cl::Required,
                                 cl::desc("FILE.mlir"));
static cl::opt<unsigned> seeds("seeds", cl::init(3),
                               cl::desc("schedules to try"));
static cl::opt<unsigned> firstSeed("first-seed", cl::init(1),
                                   cl::desc("the first of them"));
static cl::opt<unsigned> units("units", cl::init(2),
                               cl::desc("multiprocessors"));
static cl::opt<int64_t> rows("rows", cl::init(1), cl::desc("rows of the out"));
static cl::opt<int64_t> sequences("sequences", cl::init(1));
static cl::opt<int64_t> keys("keys", cl::init(0),
                             cl::desc("keys of a sequence"));
static cl::opt<std::string>
    leftOut("break", cl::desc("leave out KIND:NUMBER (wait, release, fence, "
                              "barrier), or each in turn: all"));
static cl::opt<bool> print("print", cl::desc("print the results"));
static cl::opt<std::string> folder("dump", cl::desc("write all buffers there"));

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "emulates a kernel for Hopper\n");
  mlir::DialectRegistry registry;
  registry.insert<mlir::gpu::GPUDialect, mlir::LLVM::LLVMDialect,
                  mlir::NVVM::NVVMDialect>();
  mlir::MLIRContext context(registry);
  context.disableMultithreading();
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler messages(sources, &context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(file, sources, &context);
  if (!module)
    return int(mille::Status::input);
  mille::emulate::WrittenOptions options;
  options.trials = {seeds, firstSeed, leftOut};
  options.units = units;
  options.counts[1] = rows;
  options.counts[2] = sequences;
  options.counts[3] = rows / std::max<int64_t>(sequences, 1);
  options.counts[4] = keys ? int64_t(keys) : options.counts[3];
  options.print = print;
  options.folder = folder;
  mille::Status status = mille::Status::input;
  for (auto kernels : module->getOps<mlir::gpu::GPUModuleOp>()) {
    status = mille::emulate::runWritten(kernels, options, llvm::outs());
    if (mille::failed(status))
      break;
  }
  return int(status);
}
