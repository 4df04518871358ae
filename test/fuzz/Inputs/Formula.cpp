// Reads bytes as a depth formula, which gives a number or a reason.
#include "dialects/transformer/Formula.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  llvm::StringMap<double> names;
  names["layers"] = 80;
  std::string why;
  if (!mille::transformer::evaluateFormula(text, names, why) && why.empty())
    std::abort();
  return 0;
}
