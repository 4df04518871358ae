// Reads bytes as the NAME.json of a package, which gives a diagnostic, or a
// package whose every entry, size and kernel can be asked for.
#include "compiler/driver/package/Package.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace {

// A folder of this process, which ends with it: in memory, if there is a place
// for that, since files are made thousands of times a second.
class Folder {
public:
  Folder() {
    if (mkdtemp(name) || mkdtemp(std::strcpy(name, "/tmp/mille-fuzz-XXXXXX")))
      file = std::string(name) + "/fuzz.json";
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(name, ignored);
  }
  char name[32] = "/dev/shm/mille-fuzz-XXXXXX";
  std::string file; // "": it could not be made
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Folder folder;
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler quiet(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  FILE *file = std::fopen(folder.file.c_str(), "wb");
  if (!file)
    return 0;
  const bool written = std::fwrite(data, 1, size, file) == size;
  if (std::fclose(file) != 0 || !written)
    return 0;
  mille::Package package;
  if (failed(mille::findPackage(folder.file, context, package)))
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
