// The states that attention alone reads, as keys or as values: what may choose
// how they lie in memory, and their elements.
// Must not rewrite anything.
#pragma once
#include "dialects/kernel/Kernel.h"

namespace mille::plan {

// One state of one entry, which only `remember` writes. Attention reads what
// that gives, or, where another entry writes, what `recall` gives.
struct AttendedState {
  mlir::func::FuncOp entry;
  mlir::BlockArgument state;
  llvm::SmallVector<kernel::RememberOp> remembers;
  llvm::SmallVector<kernel::RecallOp> recalls; // that attention reads
  kernel::StatePanels panels;                  // keys or values
  int64_t heads = 0; // of keys, as all readers count them
  bool both = false; // attention reads it as keys and as values: their panels
};

// All such states of a module. Entries share states, so one that any entry uses
// otherwise is none; nor is one whose attention reads another that is none.
std::vector<AttendedState> attendedStates(mlir::ModuleOp module);

} // namespace mille::plan
