// LLVM's code generator, configured as Halide configures its own.
// Must not optimise: Halide has done that, and equal bitcode must give equal
// bytes.
#include "compiler/halide/instructions/MachineCode.h"

#include "compiler/halide/instructions/BlockTileInstructions.h"
#include "compiler/halide/instructions/PickInstruction.h"
#include "compiler/halide/instructions/PrefetchInstruction.h"
#include "compiler/halide/instructions/RoundingInstruction.h"
#include "compiler/halide/instructions/TileInstructions.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/RuntimeLibcallInfo.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace llvm;

namespace {

// A gather takes longer than single loads, and longer still since microcode
// mitigates its side channel.
constexpr const char *tuning = "+prefer-no-gather";
// What LLVM must not use of a CPU.
// * It would shift bytes by GFNI's products, which a Zen 4 makes where it adds
//   products of bytes; a shift of words and a mask are made beside these. Four
//   rows of q4_0 that lie in L2 take 0.9 of the time.
// * It would move and convert f16 by instructions for arithmetic of f16, which
//   no set of features asks for (runtime/Cpu.cpp).
StringRef withheldFrom(StringRef cpu) {
  return StringSwitch<StringRef>(cpu)
      .Case("znver4", ",-gfni")
      .Case("sapphirerapids", ",-avx512fp16")
      .Default("");
}

// Instructions that Halide calls by name. For a CPU that lacks one LLVM has no
// code, and would end the process.
constexpr StringRef bf16Calls = "llvm.x86.avx512bf16.",
                    bf16Feature = "+avx512bf16";

const Target *targetOf(const Triple &triple, std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  return TargetRegistry::lookupTarget(triple, error);
}

// The alignment of loops in bytes. With 16 a small change elsewhere made
// BERT-base in int8 take up to 2 % longer at 32 tokens on Zen 4; 64 gains
// nothing more.
constexpr unsigned loopAlignment = 32;

// Contraction: a kernel marks the operations that must stay separate; where it
// marks none, any multiplication and addition may become one multiply-add.
TargetOptions optionsOf(const Module &module) {
  auto *flag = mdconst::extract_or_null<ConstantInt>(
      module.getModuleFlag("halide_per_instruction_fast_math_flags"));
  const bool strict = flag && !flag->isZero();
  TargetOptions options;
  options.AllowFPOpFusion = strict ? FPOpFusion::Strict : FPOpFusion::Fast;
  options.NoInfsFPMath = options.NoNaNsFPMath = !strict;
  options.HonorSignDependentRoundingFPMathOption = !strict;
  options.LoopAlignment = loopAlignment;
  options.FunctionSections = true;
  options.UseInitArray = true;
  options.FloatABIType = FloatABI::Hard;
  options.MCOptions.X86RelaxRelocations = false;
  return options;
}

bool has(const TargetMachine &machine, StringRef feature) {
  return machine.getMCSubtargetInfo()->checkFeatures(feature.str());
}

// Sets the CPU of every function. False where one calls an instruction that the
// CPU lacks.
bool retarget(Module &module, const TargetMachine &machine,
              std::string &error) {
  const StringRef cpu = machine.getTargetCPU();
  for (Function &function : module) {
    if (!has(machine, bf16Feature) &&
        function.getName().starts_with(bf16Calls)) {
      error =
          ("Halide calls " + function.getName() + ", which " + cpu + " lacks")
              .str();
      return false;
    }
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", cpu);
    function.addFnAttr("tune-cpu", cpu);
    function.addFnAttr("target-features", machine.getTargetFeatureString());
  }
  return true;
}

// The only lane that a constant mask keeps, or nothing.
std::optional<unsigned> onlyLane(const Value *mask) {
  auto *lanes = dyn_cast<Constant>(mask);
  auto *type = dyn_cast<FixedVectorType>(mask->getType());
  std::optional<unsigned> only;
  for (unsigned lane = 0; lanes && type && lane < type->getNumElements();
       ++lane) {
    const Constant *kept = lanes->getAggregateElement(lane);
    if (!kept || (!kept->isNullValue() && (only || !kept->isOneValue())))
      return std::nullopt;
    if (!kept->isNullValue())
      only = lane;
  }
  return only;
}

// Replaces a masked store of one lane by a plain store: LLVM 22 stores all
// bytes of a truncated number there.
void storeOnlyLanes(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction :
         make_early_inc_range(instructions(function))) {
      auto *store = dyn_cast<IntrinsicInst>(&instruction);
      if (!store || store->getIntrinsicID() != Intrinsic::masked_store)
        continue;
      Value *address = store->getArgOperand(1), *mask = store->getArgOperand(2);
      std::optional<unsigned> lane = onlyLane(mask);
      if (!lane)
        continue;
      IRBuilder<> builder(store);
      Value *kept =
          builder.CreateExtractElement(store->getArgOperand(0), *lane);
      Value *place =
          builder.CreateConstGEP1_64(kept->getType(), address, *lane);
      builder.CreateAlignedStore(kept, place, Align(1));
      store->eraseFromParent();
    }
}

} // namespace

bool mille::makeMachineCode(const std::string &bitcode, const std::string &cpu,
                            std::string &object, std::string &error) {
  LLVMContext context;
  context.setDiagnosticHandlerCallBack(
      [](const DiagnosticInfo *info, void *text) {
        if (info->getSeverity() != DS_Error)
          return;
        raw_string_ostream stream(*static_cast<std::string *>(text));
        DiagnosticPrinterRawOStream printer(stream);
        info->print(printer);
      },
      &error);
  auto module =
      parseBitcodeFile(MemoryBufferRef(bitcode, "kernel.bc"), context);
  if (!module) {
    error = toString(module.takeError());
    return false;
  }
  const Triple &triple = (*module)->getTargetTriple();
  const Target *target = targetOf(triple, error);
  if (!target)
    return false;
  const std::string features = tuning + withheldFrom(cpu).str();
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, cpu, features, optionsOf(**module), Reloc::PIC_, CodeModel::Small,
      CodeGenOptLevel::Aggressive));
  sumByInstructions(**module);
  sumBlocksByInstructions(**module);
  prefetchIntoCaches(**module);
  pickByInstruction(**module, has(*machine, "+avx512bw"));
  if (!retarget(**module, *machine, error))
    return false;
  storeOnlyLanes(**module);
  if (has(*machine, bf16Feature))
    roundByInstruction(**module);
  (*module)->setDataLayout(machine->createDataLayout());
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  legacy::PassManager passes;
  passes.add(new TargetLibraryInfoWrapperPass(triple));
  passes.add(new RuntimeLibraryInfoWrapper(
      triple, machine->Options.ExceptionModel, machine->Options.FloatABIType,
      machine->Options.EABIVersion, machine->Options.MCOptions.ABIName,
      machine->Options.VecLib));
  if (machine->addPassesToEmitFile(passes, stream, nullptr,
                                   CodeGenFileType::ObjectFile)) {
    error = "LLVM emits no objects for " + triple.str();
    return false;
  }
  passes.run(**module);
  object.assign(bytes.begin(), bytes.end());
  return error.empty();
}
