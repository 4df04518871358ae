// When a loop back updates the parameters of a layer: as soon as some megabytes
// of them are whole. Must not be included outside of compiler/lower.
#pragma once
#include "dialects/kernel/Kernel.h"

namespace mille::lower {

// A call of mille_update in a body of a loop: after an op of the body's block,
// from which on the gradients of these columns are whole and the parameters are
// read no more.
struct Update {
  mlir::Operation *after;
  llvm::SmallVector<mlir::Attribute> columns;
};

// The calls of a body, in their order; none where the loop updates nothing.
llvm::SmallVector<Update> updatesOf(kernel::LayersOp layers, unsigned body);

} // namespace mille::lower
