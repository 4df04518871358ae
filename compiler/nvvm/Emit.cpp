// MLIR's translation to LLVM IR, LLVM's passes and code generators in process.
// Must not run ptxas.
#include "compiler/nvvm/Emit.h"

#include "compiler/kernels/HostObject.h"
#include "compiler/kernels/Optimize.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <cstddef>
#include <mutex>

using namespace mlir;

namespace mille::nvvm {

//===-- PTX ---------------------------------------------------------------===//

static const llvm::Target *deviceTarget(const llvm::Triple &triple,
                                        std::string &problem) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  return llvm::TargetRegistry::lookupTarget(triple, problem);
}

// The nvvm ops without an LLVM intrinsic become asm.
static bool lowerOps(ModuleOp module) {
  MLIRContext *context = module.getContext();
  DialectRegistry registry;
  registerConvertNVVMToLLVMInterface(registry);
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  context->appendDialectRegistry(registry);
  PassManager passes(context);
  OpPassManager &device = passes.nest<gpu::GPUModuleOp>();
  device.addPass(createConvertNVVMToLLVMPass());
  device.addPass(createReconcileUnrealizedCastsPass());
  return succeeded(passes.run(module));
}

bool makePtx(ModuleOp module, std::string &ptx, std::string &problem) {
  auto device = *module.getOps<gpu::GPUModuleOp>().begin();
  auto target = cast<NVVM::NVVMTargetAttr>((*device.getTargets())[0]);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code;
  if (!lowerOps(module) || !(code = translateModuleToLLVMIR(device, context))) {
    problem = "MLIR cannot translate the kernel to LLVM";
    return false;
  }
  llvm::Triple triple(target.getTriple());
  const llvm::Target *nvptx = deviceTarget(triple, problem);
  if (!nvptx)
    return false;
  std::unique_ptr<llvm::TargetMachine> machine(nvptx->createTargetMachine(
      triple, target.getChip(), target.getFeatures(), {}, std::nullopt,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  code->setTargetTriple(triple);
  code->setDataLayout(machine->createDataLayout());
  optimize(*code, *machine, llvm::OptimizationLevel::O3, /*unrollLoops=*/true);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile)) {
    problem = "LLVM emits no text for " + triple.str();
    return false;
  }
  codegen.run(*code);
  ptx.assign(bytes.begin(), bytes.end());
  return true;
}

//===-- The object --------------------------------------------------------===//

// The description of abi.h as a constant.
class Description {
public:
  explicit Description(llvm::Module &module)
      : module(module), context(module.getContext()),
        word(llvm::Type::getInt32Ty(context)),
        longWord(llvm::Type::getInt64Ty(context)),
        pointer(llvm::PointerType::get(context, 0)) {}

  llvm::Constant *of(const LaunchedCode &launched) {
    static_assert(sizeof(mille_device_kernel) == 136 &&
                  offsetof(mille_device_kernel, threads) == 40 &&
                  offsetof(mille_device_kernel, arguments) == 104 &&
                  offsetof(mille_device_kernel, most_queries) == 120 &&
                  offsetof(mille_device_kernel, apart) == 124 &&
                  offsetof(mille_device_kernel, then) == 128);
    const Launch &launch = launched.launch;
    const DeviceCode &code = launched.code;
    llvm::SmallVector<llvm::Constant *> amounts;
    for (const mille_amount &amount : launch.tiles)
      amounts.push_back(words(&amount, sizeof amount));
    auto *tiles = llvm::ConstantArray::get(
        llvm::ArrayType::get(amounts[0]->getType(), 3), amounts);
    llvm::Constant *cubin = llvm::ConstantPointerNull::get(pointer);
    if (!code.cubin.empty())
      cubin = placed(bytesOf(code.cubin, false), "cubin");
    return placed(
        llvm::ConstantStruct::getAnon(
            {placed(bytesOf(launch.entry, true), "entry"), cubin,
             size(code.cubin.size()), placed(bytesOf(code.ptx, true), "ptx"),
             size(code.ptx.size()), number(launch.threads),
             number(launch.cluster), number(launch.sharedBytes),
             number(launch.blocksPerUnit), tiles,
             number(launch.arguments.size()), number(launch.overlaps),
             placed(
                 words(launch.arguments.data(),
                       launch.arguments.size() * sizeof(mille_launch_argument)),
                 "arguments"),
             orNull(launched.ofLong), number(launched.mostQueries),
             number(launch.apart), orNull(launched.then)}),
        "description");
  }

private:
  llvm::Constant *orNull(const std::unique_ptr<LaunchedCode> &other) {
    return other ? of(*other) : llvm::ConstantPointerNull::get(pointer);
  }
  llvm::Constant *number(uint32_t value) {
    return llvm::ConstantInt::get(word, value);
  }
  llvm::Constant *size(uint64_t value) {
    return llvm::ConstantInt::get(longWord, value);
  }
  llvm::Constant *bytesOf(const std::string &text, bool withNul) {
    return llvm::ConstantDataArray::getString(context, text, withNul);
  }
  llvm::Constant *words(const void *from, size_t bytes) {
    return llvm::ConstantDataArray::get(
        context,
        llvm::ArrayRef(static_cast<const uint32_t *>(from), bytes / 4));
  }
  llvm::GlobalVariable *placed(llvm::Constant *value, const char *name) {
    auto *global = new llvm::GlobalVariable(module, value->getType(), true,
                                            llvm::GlobalValue::InternalLinkage,
                                            value, name);
    global->setAlignment(llvm::Align(16));
    return global;
  }

  llvm::Module &module;
  llvm::LLVMContext &context;
  llvm::Type *word, *longWord;
  llvm::PointerType *pointer;
};

bool makeObject(const std::string &symbol, const LaunchedCode &code,
                std::string &object, std::string &problem) {
  llvm::LLVMContext context;
  llvm::Module module(symbol, context);
  auto *word = llvm::Type::getInt32Ty(context);
  auto *pointer = llvm::PointerType::get(context, 0);
  llvm::FunctionCallee launcher = module.getOrInsertFunction(
      "mille_device_launch",
      llvm::FunctionType::get(word, {pointer, pointer, pointer}, false));
  auto *function = llvm::Function::Create(
      llvm::FunctionType::get(word, {pointer}, false),
      llvm::GlobalValue::ExternalLinkage, symbol, module);
  llvm::IRBuilder<> builder(
      llvm::BasicBlock::Create(context, "entry", function));
  llvm::Value *arguments = function->getArg(0);
  llvm::Value *task =
      builder.CreateLoad(pointer, builder.CreateLoad(pointer, arguments));
  builder.CreateRet(builder.CreateCall(
      launcher, {task, Description(module).of(code),
                 builder.CreateConstGEP1_64(pointer, arguments, 1)}));
  return makeHostObject(module, object, problem);
}

} // namespace mille::nvvm
