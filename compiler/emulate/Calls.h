// The functions that lowered kernels call, by name.
#pragma once
#include "llvm/ADT/ArrayRef.h"

namespace mille::emulate {

struct Function {
  const char *name; // without mille_emulate_
  void *address;
};

llvm::ArrayRef<Function> functions();

} // namespace mille::emulate
