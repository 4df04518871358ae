// Entries that are a part of `forward`: encode and decode, and towers.
// Must not add what forward does not compute.
#pragma once
#include "compiler/entries/Slice.h"

namespace mille::entries {

// A part of `forward`, not made yet.
struct EntryPart {
  std::string name;
  llvm::SmallVector<unsigned> outputs; // of forward
  int64_t cut = -1;                    // see makeSlice
};

// The parts that `forward` has: one for each of several towers; or, of an
// encoder with a decoder, `encode` and `decode`, which takes what encode gives.
llvm::SmallVector<EntryPart> partsOf(mlir::func::FuncOp forward);

} // namespace mille::entries
