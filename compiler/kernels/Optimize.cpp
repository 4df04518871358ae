// Sets up the managers that a pipeline of LLVM needs.
#include "compiler/kernels/Optimize.h"

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

void mille::optimize(llvm::Module &module, llvm::TargetMachine &machine,
                     const llvm::OptimizationLevel &level, bool unrollLoops) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = unrollLoops;
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
  builder.buildPerModuleDefaultPipeline(level).run(module, modules);
}
