// LLVM dialect -> LLVM IR -> code, through ORC. Must not know the machine.
#include "compiler/emulate/Code.h"
#include "compiler/emulate/Calls.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

using namespace mille::emulate;

Code::Code() = default;
Code::~Code() = default;

static llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> makeJit() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  auto target = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!target)
    return target.takeError();
  target->setCodeGenOptLevel(llvm::CodeGenOptLevel::None);
  return llvm::orc::LLJITBuilder()
      .setJITTargetMachineBuilder(std::move(*target))
      .create();
}

static llvm::Error addFunctions(llvm::orc::LLJIT &jit) {
  llvm::orc::SymbolMap symbols;
  for (const Function &function : functions())
    symbols[jit.mangleAndIntern("mille_emulate_" +
                                std::string(function.name))] = {
        llvm::orc::ExecutorAddr::fromPtr(function.address),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  return jit.getMainJITDylib().define(
      llvm::orc::absoluteSymbols(std::move(symbols)));
}

static llvm::Expected<void (*)(void *)> addModule(llvm::orc::LLJIT &jit,
                                                  const Lowered &lowered) {
  mlir::ModuleOp module = *lowered.module;
  mlir::registerBuiltinDialectTranslation(*module->getContext());
  mlir::registerLLVMDialectTranslation(*module->getContext());
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> code =
      mlir::translateModuleToLLVMIR(module, *context);
  if (!code)
    return llvm::createStringError("no LLVM IR of the kernel");
  code->setDataLayout(jit.getDataLayout());
  if (llvm::Error error = jit.addIRModule(
          llvm::orc::ThreadSafeModule(std::move(code), std::move(context))))
    return std::move(error);
  auto entry = jit.lookup(entryName);
  if (!entry)
    return entry.takeError();
  return entry->toPtr<void (*)(void *)>();
}

std::unique_ptr<Code> Code::make(const Lowered &lowered, std::string &problem) {
  std::unique_ptr<Code> code(new Code);
  auto jit = makeJit();
  if (!jit) {
    problem = llvm::toString(jit.takeError());
    return nullptr;
  }
  code->jit = std::move(*jit);
  if (llvm::Error error = addFunctions(*code->jit)) {
    problem = llvm::toString(std::move(error));
    return nullptr;
  }
  auto entry = addModule(*code->jit, lowered);
  if (!entry) {
    problem = llvm::toString(entry.takeError());
    return nullptr;
  }
  code->entry = *entry;
  return code;
}
