// When each tensor of a kernel program lives, and in which buffer.
// Decides; rewrites nothing.
#pragma once
#include "compiler/plan/Arena.h"
#include "dialects/kernel/Kernel.h"

namespace mille::plan {

// An op that only makes room for a result: a tensor, from no tensor.
bool isDestination(mlir::Operation *op);

// A launch's outcome stands for what its yield names, and so on down.
mlir::Value rootOf(mlir::Value tensor);

// A kernel that copies rows as they are, but for a rounding to the elements of
// `into`; on tensors it has a result.
kernel::RowsOp copyRows(mlir::OpBuilder &builder, mlir::Location location,
                        mlir::Value from, mlir::Value into);

struct LoopBuffers {
  Buffer *current, *other; // one value that layers hand over, by turns
  bool copyIn;             // the initial value must be copied to `current`
};

struct Lives {
  std::deque<Buffer> buffers;
  // Roots that live in the arena. Not here: arguments, weights, `direct`.
  llvm::DenseMap<mlir::Value, Buffer *> bufferOf;
  // Roots that their op writes straight into output number .. of the function.
  llvm::DenseMap<mlir::Value, unsigned> direct;
  // Roots that their op writes straight into what their body hands over: which.
  llvm::DenseMap<mlir::Value, unsigned> streamOut;
  // Per value that the layers hand over.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<LoopBuffers, 1>> loops;
  int64_t bytesWithoutReuse = 0;
};

// Fails where a buffer's rows are no product of a run's sizes; it has said so.
mlir::FailureOr<Lives> findLives(mlir::func::FuncOp forward);

} // namespace mille::plan
