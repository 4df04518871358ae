// What a lowered program calls by name where Halide has no instruction: LLVM's
// module has the calls, and they become the instructions. Private to this room.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"

namespace llvm {
class CallInst;
class Module;
} // namespace llvm

namespace mille {

// `replace` puts something in the place of a call of `name`, and erases it.
// Then there is no such function.
void replaceCalls(llvm::Module &module, const char *name,
                  llvm::function_ref<void(llvm::CallInst &)> replace);

} // namespace mille
