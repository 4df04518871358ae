// Bytes as a safetensors file: tensors whose every byte can be read, or a
// diagnostic.
#include "compiler/weights/Safetensors.h"

#include <sys/mman.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler quiet(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  int file = memfd_create("fuzz", 0);
  if (file < 0)
    return 0;
  if (write(file, data, size) == ssize_t(size)) {
    std::string path = "/proc/self/fd/" + std::to_string(file);
    if (auto opened = mille::Safetensors::open(path, context))
      for (const mille::StoredTensor &tensor : opened->tensors()) {
        double numbers[64];
        for (int64_t at = 0; at < tensor.elements(); at += 64)
          tensor.read(
              at, llvm::MutableArrayRef<double>(
                      numbers, std::min<int64_t>(64, tensor.elements() - at)));
      }
  }
  close(file);
  return 0;
}
