// Into L1, in objects that Halide makes too: a bit of an instruction is rewritten, found by
// disassembly from each section's start, never by searching for bytes. Must not change any
// length. Into L2, where LLVM has the program.
#include "compiler/halide/PrefetchInstruction.h"

#include "compiler/halide/Placeholders.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

using namespace llvm;

namespace {

// The disassembler and what it needs to live.
struct Reader {
  Triple triple{"x86_64-unknown-linux-gnu"};
  std::unique_ptr<MCRegisterInfo> registers;
  std::unique_ptr<MCAsmInfo> syntax;
  std::unique_ptr<MCSubtargetInfo> features;
  std::unique_ptr<MCInstrInfo> instructions;
  std::unique_ptr<MCContext> context;
  std::unique_ptr<MCDisassembler> disassembler;

  bool make() {
    static std::once_flag once;
    std::call_once(once, [] {
      LLVMInitializeX86TargetInfo();
      LLVMInitializeX86TargetMC();
      LLVMInitializeX86Disassembler();
    });
    std::string problem;
    const Target *target = TargetRegistry::lookupTarget(triple, problem);
    if (!target)
      return false;
    registers.reset(target->createMCRegInfo(triple));
    syntax.reset(target->createMCAsmInfo(*registers, triple, MCTargetOptions()));
    features.reset(target->createMCSubtargetInfo(triple, "sapphirerapids", ""));
    instructions.reset(target->createMCInstrInfo());
    context = std::make_unique<MCContext>(triple, syntax.get(), registers.get(),
                                          features.get());
    disassembler.reset(target->createMCDisassembler(*features, *context));
    return disassembler != nullptr;
  }
};

// 0f 18 /0 is prefetchnta, /1 prefetcht0; the number is in bits 3 to 5.
bool patch(MutableArrayRef<uint8_t> instruction) {
  for (size_t i = 0; i + 2 < instruction.size(); ++i)
    if (instruction[i] == 0x0f && instruction[i + 1] == 0x18 &&
        (instruction[i + 2] & 0x38) == 0) {
      instruction[i + 2] |= 1 << 3;
      return true;
    }
  return false;
}

} // namespace

bool mille::prefetchIntoL1(std::string &object) {
  auto file = object::ObjectFile::createObjectFile(
      MemoryBufferRef(object, "kernel.o"));
  if (!file) {
    consumeError(file.takeError());
    return false;
  }
  Reader reader;
  if (!reader.make())
    return false;
  for (const object::SectionRef &section : (*file)->sections()) {
    if (!section.isText() || !section.getSize())
      continue;
    auto contents = section.getContents();
    if (!contents) {
      consumeError(contents.takeError());
      return false;
    }
    MutableArrayRef<uint8_t> bytes(
        reinterpret_cast<uint8_t *>(object.data()) + (contents->data() - object.data()),
        contents->size());
    for (uint64_t at = 0, size; at < bytes.size(); at += size) {
      MCInst instruction;
      if (reader.disassembler->getInstruction(instruction, size, bytes.slice(at), at,
                                              nulls()) != MCDisassembler::Success)
        return false;
      if (reader.instructions->getName(instruction.getOpcode()) == "PREFETCHNTA" &&
          !patch(bytes.slice(at, size)))
        return false;
    }
  }
  return true;
}

void mille::emitPrefetchIntoL2(IRBuilderBase &builder, Value *address) {
  constexpr int read = 0, inL2 = 2, data = 1;
  builder.CreateIntrinsic(Intrinsic::prefetch, {address->getType()},
                          {address, builder.getInt32(read), builder.getInt32(inL2),
                           builder.getInt32(data)});
}

void mille::prefetchIntoL2(Module &module) {
  replaceCalls(module, prefetchIntoL2Name, [](CallInst &call) {
    IRBuilder<> builder(&call);
    emitPrefetchIntoL2(builder,
                       builder.CreatePtrAdd(call.getArgOperand(0), call.getArgOperand(1)));
    call.eraseFromParent();
  });
}
