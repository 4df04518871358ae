// Lists the kernels of a planned entry in their order, and when each buffer of
// its arena holds something. Must not place buffers.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mille {

struct MemoryUse {
  struct Step {
    std::string kernel;
    std::string layers; // that run it, by their number in the stack; "": none
  };
  struct Buffer {
    int64_t offset = 0, bytes = 0; // per row of the run
    int64_t first = 0, last = 0;   // steps that write or read it
  };
  std::vector<Step> steps; // of a body once, however many layers run it
  std::vector<Buffer> buffers;
};

// `nameOf` gives the name of the kernel of an op.
MemoryUse memoryOf(mlir::func::FuncOp entry,
                   llvm::function_ref<std::string(mlir::Operation *)> nameOf);

} // namespace mille
