// Which entries of a state only queries with a window read: attributes of the
// argument that is the state. Must not decide who drops rows.
#pragma once
#include "dialects/kernel/Kernel.h"

namespace mille::kernel {

// kernel.windows = array<i64: ...>, for each entry the keys that a query sees,
// its own among them, or 0; and how a sequence's rows lie in panels.
constexpr llvm::StringLiteral windowsName = "kernel.windows";
constexpr llvm::StringLiteral windowHeadsName = "kernel.window_heads";
constexpr llvm::StringLiteral windowPanelsName = "kernel.window_panels";

struct WindowsOfState {
  llvm::ArrayRef<int64_t> windows; // none: no entry has one
  int64_t heads = 0;
  bool keys = false;
};

// Of the state with this name, as the entries of a model say.
WindowsOfState windowsOf(mlir::Operation *model, llvm::StringRef state);

} // namespace mille::kernel
