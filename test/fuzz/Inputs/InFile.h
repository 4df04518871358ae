// Gives the bytes of a fuzzer as a file with a path. Must not know the format.
#pragma once
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <string>
#include <sys/mman.h>
#include <unistd.h>

// Calls use(path, context) on a file of these bytes and drops diagnostics.
template <typename Use>
int inFile(const uint8_t *data, size_t size, const Use &use) {
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler quiet(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  int file = memfd_create("fuzz", 0);
  if (file < 0)
    return 0;
  if (write(file, data, size) == ssize_t(size))
    use("/proc/self/fd/" + std::to_string(file), context);
  close(file);
  return 0;
}
