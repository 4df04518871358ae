// Prints shapes for the files of Compiled.
// Must not be included outside of Compiled*.cpp.
#pragma once
#include "compiler/driver/package/Compiled.h"

namespace mille {

// "[2, 17]"
inline std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t extent : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "[" + text + "]";
}

} // namespace mille
