// Finds when each tensor of a kernel program is live, and in which buffer.
// Must not rewrite anything.
#pragma once
#include "compiler/plan/Arena.h"
#include "dialects/kernel/Kernel.h"
#include "llvm/ADT/StringMap.h"

namespace mille::plan {

// Whether an op has results that it writes into destinations.
bool hasDestinations(mlir::Operation *op);

// The value that the innermost launch yields for an outcome of a launch.
mlir::Value rootOf(mlir::Value tensor);

// A root and the outcomes of launches that stand for it.
llvm::SmallVector<mlir::Value, 2> namesOf(mlir::Value root);

// The destination of a result where that is the memory of a state or of a
// gradient, which is written in place; else null.
mlir::Value recalledBy(mlir::Value result);

// A kernel that copies rows, rounded to the element type of `into`; on tensors
// it has a result.
kernel::RowsOp copyRows(mlir::OpBuilder &builder, mlir::Location location,
                        mlir::Value from, mlir::Value into);

struct LoopBuffers {
  // One value that a layer hands to the next: layers read one buffer and write
  // the other, alternately.
  Buffer *current, *other;
  bool copyIn; // the initial value must be copied to `current`
};

// What the layers of a loop save under a name: a buffer that has a part for
// each layer.
struct SavedBuffer {
  Buffer *buffer;
  int64_t perLayer; // bytes per padded row
};

struct Lives {
  std::deque<Buffer> buffers;
  // Roots in the arena: all except arguments, weights and `direct`.
  llvm::DenseMap<mlir::Value, Buffer *> bufferOf;
  // Roots that their op writes into an output of the function: its number.
  llvm::DenseMap<mlir::Value, unsigned> direct;
  // Roots that their op writes into a value that their body hands over or
  // yields: its number.
  llvm::DenseMap<mlir::Value, unsigned> streamOut;
  // For each layer loop the buffers of each value that its layers hand over.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<LoopBuffers, 1>> loops;
  llvm::StringMap<SavedBuffer> saved; // by name
  // Roots that their op writes where they are saved: the name.
  llvm::DenseMap<mlir::Value, llvm::StringRef> savedIn;
  int64_t bytesWithoutReuse = 0;
};

// Fails, with an error, where a buffer's rows are no product of a run's sizes.
mlir::FailureOr<Lives> findLives(mlir::func::FuncOp forward);

} // namespace mille::plan
