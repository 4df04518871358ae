// Finds placeholder calls. Must not know what they become: the caller does.
#include "compiler/halide/instructions/Placeholders.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

void mille::replaceCalls(Module &module, const char *name,
                         function_ref<void(CallInst &)> replace) {
  Function *placeholder = module.getFunction(name);
  if (!placeholder)
    return;
  for (User *user : make_early_inc_range(placeholder->users()))
    replace(*cast<CallInst>(user));
  placeholder->eraseFromParent();
}
