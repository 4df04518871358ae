// Parameters that a training step may change before its end: a reversed loop's
// attribute kernel.updates. Must not decide which.
#pragma once
#include "dialects/kernel/Kernel.h"

namespace mille::kernel {

// A list of columns. When the loop leaves a layer, that layer's entries of them
// are parameters whose gradients are whole, and which nothing reads any more.
constexpr llvm::StringLiteral updatesName = "kernel.updates";

// The columns; none where the loop has no such attribute.
llvm::ArrayRef<mlir::Attribute> updatedColumns(LayersOp layers);

} // namespace mille::kernel
