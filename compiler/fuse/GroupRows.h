// Groups row kernels into the launch of the kernel whose rows they read, so
// that one task runs both while the rows are in cache.
// Must not choose which ops to group, nor name the boundary: the passes do.
#pragma once
#include "compiler/fuse/KernelBuilder.h"

#include <string>

namespace mille {

// The op that makes `value`, looked for inside launches.
mlir::Operation *makerOf(mlir::Value value);

// Why `op` cannot run in the launch that makes its input `input`; empty where
// it can. A matmul or rows op makes it, perhaps in a launch already.
std::string whyNotGroup(kernel::RowsOp op, mlir::Value input);

// Moves it there; `op` stays valid, and the launch hands out what is read
// outside it.
void groupInto(kernel::RowsOp op, mlir::Value input);

} // namespace mille
