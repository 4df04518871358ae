// Ops that one kernel computes together: a leader, and the `rows` ops behind it
// in its launch that have the attribute kernel.joined. Must not decide which.
#pragma once
#include "dialects/kernel/Kernel.h"

namespace mille::kernel {

constexpr llvm::StringLiteral joinedName = "kernel.joined";

// Whether the kernel of an op before computes this one too.
bool isJoined(mlir::Operation *op);
// A kernel op with a kernel of its own.
bool isLeader(mlir::Operation *op);

// The ops that are joined to a leader, in order.
llvm::SmallVector<RowsOp> joinedTo(mlir::Operation *leader);

// Whether the kernel writes the out of this op, a leader or joined, on memrefs:
// an out that ops of the same kernel alone read stays in registers.
bool isWritten(mlir::Operation *leader, mlir::Operation *op);

// For each input of a joined op, which of the ops of its kernel, counted from
// the leader, has it as its out; -1: it is read from memory.
llvm::SmallVector<int> sourcesOf(mlir::Operation *leader, RowsOp joined);

// The operands of a kernel: those of the leader, what joined ops read from
// memory, and the outs that it writes.
llvm::SmallVector<mlir::OpOperand *> operandsOfKernel(mlir::Operation *leader);

} // namespace mille::kernel
