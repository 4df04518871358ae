// Bounds the nesting of a text, as the doors of the tools do before they parse,
// because MLIR's parser recurses.
#pragma once
#include "llvm/ADT/StringRef.h"

inline bool nestsDeep(llvm::StringRef text) {
  int depth = 0;
  for (char c : text)
    if (llvm::StringRef("([{<").contains(c) && ++depth > 200)
      return true;
    else if (llvm::StringRef(")]}>").contains(c))
      --depth;
  return false;
}
