// A prefetch is LLVM's intrinsic, whose locality names the cache.
// Must not touch a prefetch that names L2 already.
#include "compiler/halide/instructions/PrefetchInstruction.h"

#include "compiler/halide/instructions/Placeholders.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {

// LLVM's localities: the cache that a line stays in.
enum Locality { pastTheCaches = 0, inL2 = 2, inL1 = 3 };
constexpr unsigned localityArgument = 2; // of Intrinsic::prefetch

void prefetchIntoL1(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : instructions(function)) {
      auto *prefetch = dyn_cast<IntrinsicInst>(&instruction);
      if (!prefetch || prefetch->getIntrinsicID() != Intrinsic::prefetch)
        continue;
      auto *locality =
          cast<ConstantInt>(prefetch->getArgOperand(localityArgument));
      if (locality->equalsInt(pastTheCaches))
        prefetch->setArgOperand(localityArgument,
                                ConstantInt::get(locality->getType(), inL1));
    }
}

} // namespace

void mille::emitPrefetchIntoL2(IRBuilderBase &builder, Value *address) {
  constexpr int read = 0, data = 1;
  builder.CreateIntrinsic(Intrinsic::prefetch, {address->getType()},
                          {address, builder.getInt32(read),
                           builder.getInt32(inL2), builder.getInt32(data)});
}

void mille::prefetchIntoCaches(Module &module) {
  prefetchIntoL1(module);
  replaceCalls(module, prefetchIntoL2Name, [](CallInst &call) {
    IRBuilder<> builder(&call);
    emitPrefetchIntoL2(builder, builder.CreatePtrAdd(call.getArgOperand(0),
                                                     call.getArgOperand(1)));
    call.eraseFromParent();
  });
}
