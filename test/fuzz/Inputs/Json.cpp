// Reads bytes as a JSON file, which gives a tree or a diagnostic.
#include "compiler/json/Json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler quiet(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  if (auto document = mille::json::parse(text, "fuzz.json", context))
    (void)document->root.describe();
  return 0;
}
