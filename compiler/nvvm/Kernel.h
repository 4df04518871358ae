// A kernel that is not yet code: what a generator writes, and what the emulator
// runs. Must not know what it computes.
#pragma once
#include "compiler/nvvm/Launch.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>

namespace mille::nvvm {

struct Kernel {
  mlir::OwningOpRef<mlir::ModuleOp> module; // one gpu.module
  Launch launch;
  // Launched in its place where sequences have more than `mostQueries` queries.
  std::unique_ptr<Kernel> ofLong = nullptr;
  uint32_t mostQueries = 0;
  // Launched behind it, with the same buffers.
  std::unique_ptr<Kernel> then = nullptr;
};

} // namespace mille::nvvm
