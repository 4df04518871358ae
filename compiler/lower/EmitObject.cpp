// Makes an object of host code in the LLVM dialect by LLVM 22: PIC, for any
// x86-64, because the instruction set of kernels is chosen at run time.
// Must not know programs.
#include "compiler/kernels/HostObject.h"
#include "compiler/lower/Lower.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

namespace {

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  // No unrolling: the layer loop stays a loop for any number of layers.
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, modules);
}

} // namespace

mille::Status mille::emitObject(ModuleOp program, std::string &object) {
  registerBuiltinDialectTranslation(*program.getContext());
  registerLLVMDialectTranslation(*program.getContext());

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(program, context, "host");
  if (!module)
    return Status::bug;
  std::string why;
  std::unique_ptr<llvm::TargetMachine> machine = hostMachine(why);
  if (machine) {
    module->setTargetTriple(machine->getTargetTriple());
    module->setDataLayout(machine->createDataLayout());
    optimize(*module, *machine);
    if (makeHostObject(*module, object, why))
      return Status::done;
  }
  program.emitError(why);
  return Status::bug;
}
