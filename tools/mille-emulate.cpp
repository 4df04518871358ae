// mille-emulate: runs the Hopper kernels of kernel ops, or those of a
// gpu.module, on the CPU, and reports races and wrong numbers. No logic.
#include "compiler/driver/Compiler.h"
#include "compiler/driver/emulate/KernelOp.h"
#include "compiler/driver/emulate/Model.h"
#include "compiler/emulate/Written.h"
#include "dialects/kernel/Joined.h"
#include "dialects/transformer/Transformer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

namespace cl = llvm::cl;

static cl::OptionCategory words("Options");

static cl::opt<std::string> file(cl::Positional, cl::Required,
                                 cl::desc("FILE.mlir"), cl::cat(words));
static cl::opt<unsigned> seeds("seeds", cl::init(3),
                               cl::desc("schedules to try"), cl::cat(words));
static cl::opt<unsigned> firstSeed("first-seed", cl::init(1),
                                   cl::desc("the first of them"),
                                   cl::cat(words));
static cl::opt<unsigned> units("units", cl::init(2),
                               cl::desc("multiprocessors"), cl::cat(words));
static cl::list<int64_t> rows("rows", cl::CommaSeparated,
                              cl::desc("rows of the out, each a run"),
                              cl::cat(words));
static cl::opt<int64_t> sequences("sequences", cl::init(1),
                                  cl::desc("that share the rows"),
                                  cl::cat(words));
static cl::opt<int64_t> keys("keys", cl::init(0),
                             cl::desc("keys of a sequence"), cl::cat(words));
static cl::opt<int64_t> first("first", cl::desc("position of the first query"),
                              cl::cat(words));
static cl::opt<bool> tiles("tiles", cl::desc("every tile of an op"),
                           cl::cat(words));
static cl::opt<std::string>
    rowClass("class", cl::desc("few or many rows alone"), cl::cat(words));
static cl::opt<std::string> function("function", cl::desc("of this one only"),
                                     cl::cat(words));
static cl::opt<std::string>
    leftOut("break",
            cl::desc("leave out KIND:NUMBER (wait, release, fence, "
                     "barrier), or each in turn: all"),
            cl::cat(words));
static cl::opt<std::string>
    inputs("inputs",
           cl::desc("of a model after the stage fuse, which is run "
                    "whole: a safetensors file"),
           cl::cat(words));
static cl::opt<std::string> dtype("dtype", cl::init("bf16"),
                                  cl::desc("what its matmuls read"),
                                  cl::cat(words));
static cl::opt<std::string> entry("entry",
                                  cl::desc("of a model, in place of its first"),
                                  cl::cat(words));
static cl::opt<bool> print("print", cl::desc("print the results"),
                           cl::cat(words));
static cl::opt<std::string> folder("dump", cl::desc("write all buffers there"),
                                   cl::cat(words));

static mille::Status runModule(mille::emulate::Trials trials,
                               mlir::Operation *kernels) {
  mille::emulate::WrittenOptions options;
  options.trials = trials;
  options.units = units;
  options.counts[1] = rows.empty() ? 1 : rows[0];
  options.counts[2] = sequences;
  options.counts[3] = options.counts[1] / std::max<int64_t>(sequences, 1);
  options.counts[4] = keys ? int64_t(keys) : options.counts[3];
  options.print = print;
  options.folder = folder;
  return mille::emulate::runWritten(kernels, options, llvm::outs());
}

static mille::Status runOp(mille::emulate::Trials trials, mlir::Operation *op) {
  mille::emulated::Options options;
  options.trials = trials;
  options.units = units;
  if (!rows.empty())
    options.rows.assign(rows.begin(), rows.end());
  options.sequences = sequences;
  options.keys = keys;
  options.first = first;
  options.allTiles = tiles;
  options.few = rowClass != "many";
  options.many = rowClass != "few";
  return mille::emulated::run(op, options, llvm::outs());
}

static mille::Status runAll(mlir::ModuleOp module) {
  if (!inputs.empty() && !module.getOps<mille::transformer::ModelOp>().empty())
    return mille::emulated::runModel(module,
                                     {llvm::sys::path::parent_path(file).str(),
                                      inputs, firstSeed, dtype, entry},
                                     llvm::outs());
  mille::emulate::Trials trials = {seeds, firstSeed, leftOut};
  mille::Status worst = mille::Status::done;
  unsigned count = 0;
  auto take = [&](mille::Status status) {
    ++count;
    worst = mille::failed(status) ? status : worst;
  };
  for (auto kernels : module.getOps<mlir::gpu::GPUModuleOp>())
    take(runModule(trials, kernels));
  module.walk([&](mlir::Operation *op) {
    auto parent = op->getParentOfType<mlir::func::FuncOp>();
    if (mille::kernel::isLeader(op) &&
        (function.empty() || (parent && parent.getSymName() == function)))
      take(runOp(trials, op));
  });
  if (!count)
    llvm::errs() << file << ": no kernel\n";
  return count ? worst : mille::Status::input;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(words); // those of LLVM
  cl::ParseCommandLineOptions(argc, argv, "emulates kernels for Hopper\n");
  mlir::DialectRegistry registry;
  mille::registerDialects(registry);
  registry.insert<mlir::gpu::GPUDialect, mlir::LLVM::LLVMDialect,
                  mlir::NVVM::NVVMDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler messages(sources, &context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(file, sources, &context);
  return int(module ? runAll(*module) : mille::Status::input);
}
