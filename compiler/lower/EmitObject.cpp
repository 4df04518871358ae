// Makes an object of host code in the LLVM dialect by LLVM 22: PIC, for any
// x86-64, because the instruction set of kernels is chosen at run time.
// Must not know programs.
#include "compiler/kernels/HostObject.h"
#include "compiler/kernels/Optimize.h"
#include "compiler/lower/Lower.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

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
    // The layer loop stays a loop for any number of layers.
    optimize(*module, *machine, llvm::OptimizationLevel::O2,
             /*unrollLoops=*/false);
    if (makeHostObject(*module, object, why))
      return Status::done;
  }
  program.emitError(why);
  return Status::bug;
}
