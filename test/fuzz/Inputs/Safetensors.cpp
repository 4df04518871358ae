// Reads bytes as a safetensors file, which gives a diagnostic, or tensors whose
// every byte can be read.
#include "compiler/weights/Safetensors.h"
#include "InFile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return inFile(data, size, [](const std::string &path, auto &context) {
    if (auto opened = mille::Safetensors::open(path, context))
      for (const mille::StoredTensor &tensor : opened->tensors()) {
        double numbers[64];
        for (int64_t at = 0; at < tensor.elements(); at += 64)
          tensor.read(
              at, llvm::MutableArrayRef<double>(
                      numbers, std::min<int64_t>(64, tensor.elements() - at)));
      }
  });
}
