// Reads bytes as the NAME.json of a package, which gives a diagnostic, or a
// package whose every entry, size and kernel can be asked for.
#include "Folder.h"
#include "compiler/driver/package/Package.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Folder folder;
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler quiet(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  if (!folder.write("fuzz.json", data, size))
    return 0;
  mille::Package package;
  if (failed(mille::findPackage(folder.file("fuzz.json"), context, package)))
    return 0;
  for (const mille::Package::Entry &entry : package.entries)
    if (!package.entry(entry.name))
      std::abort();
  for (const mille::Package::Size &of : package.sizes)
    if (!package.hasSize(of.name) || package.most(of.name) < 0)
      std::abort();
  for (const mille::Package::Kernel &kernel : package.kernels)
    if (package.inWords(kernel.name).empty())
      std::abort();
  return 0;
}
