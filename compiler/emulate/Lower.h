// Rewrites a kernel for this machine: what only the device has becomes calls of
// Calls.cpp, the rest stays as it is. Refuses by name what is not modelled.
#pragma once
#include "compiler/emulate/Place.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <vector>

namespace mille::emulate {

struct Lowered {
  mlir::OwningOpRef<mlir::ModuleOp> module; // LLVM dialect
  std::vector<Place> places;
  std::vector<char> argumentKinds; // of the entry: 'p' pointer, 'i' 4 bytes,
                                   // 'l' 8 bytes
  int64_t staticShared = 0;        // bytes of shared memory that variables take
  unsigned granule = 16;           // the least bytes of a shared load or store
  unsigned threads = 0, cluster = 1;
};

// The function that calls the kernel with arguments of 8 bytes each:
//   void mille_emulated(void *arguments)
constexpr const char *entryName = "mille_emulated";

// `kernels` is a gpu.module, in which `entry` (empty: the only kernel) is a
// function of the LLVM dialect. Errors are diagnostics; then `module` is null.
Lowered lower(mlir::Operation *kernels, llvm::StringRef entry);

} // namespace mille::emulate
