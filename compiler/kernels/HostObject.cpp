// LLVM's code generator for the host. Must not know what the code does.
#include "compiler/kernels/HostObject.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace llvm;

static constexpr const char *hostTriple = "x86_64-unknown-linux-gnu";

std::unique_ptr<TargetMachine> mille::hostMachine(std::string &problem) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  Triple triple(hostTriple);
  const Target *target = TargetRegistry::lookupTarget(triple, problem);
  return std::unique_ptr<TargetMachine>(
      target
          ? target->createTargetMachine(triple, "x86-64", "", {}, Reloc::PIC_)
          : nullptr);
}

bool mille::makeHostObject(Module &module, std::string &object,
                           std::string &problem) {
  std::unique_ptr<TargetMachine> machine = hostMachine(problem);
  if (!machine)
    return false;
  module.setTargetTriple(Triple(hostTriple));
  module.setDataLayout(machine->createDataLayout());
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr,
                                   CodeGenFileType::ObjectFile)) {
    problem = std::string("LLVM emits no objects for ") + hostTriple;
    return false;
  }
  codegen.run(module);
  object.assign(bytes.begin(), bytes.end());
  return true;
}
