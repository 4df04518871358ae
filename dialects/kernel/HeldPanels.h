// How a session holds a state in panels, and which entries of it only queries
// with a window read: attributes of the argument that is the state.
// Must not decide who drops rows.
#pragma once
#include "dialects/kernel/Kernel.h"

namespace mille::kernel {

// The heads of a row, and whether they are keys or values.
constexpr llvm::StringLiteral panelHeadsName = "kernel.panel_heads";
constexpr llvm::StringLiteral panelsName = "kernel.panels";
// kernel.windows = array<i64: ...>, for each entry the keys that a query sees,
// its own among them, or 0.
constexpr llvm::StringLiteral windowsName = "kernel.windows";

struct HeldPanels {
  int64_t heads = 0; // 0: rows lie apart
  bool keys = false;
  llvm::ArrayRef<int64_t> windows; // none: no entry has one
};

// Of the state with this name, as the entries of a model say.
HeldPanels heldPanels(mlir::Operation *model, llvm::StringRef state);

} // namespace mille::kernel
