// Placeholder calls: a lowered program calls by name an instruction that Halide
// does not know, and the call in LLVM's module is replaced by the instruction.
// Must not be included outside of compiler/halide.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"

namespace llvm {
class CallInst;
class Module;
} // namespace llvm

namespace mille {

// Calls `replace`, which must replace and erase it, for each call of `name`;
// then erases the function.
void replaceCalls(llvm::Module &module, const char *name,
                  llvm::function_ref<void(llvm::CallInst &)> replace);

} // namespace mille
