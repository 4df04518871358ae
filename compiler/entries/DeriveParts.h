// Derives entries that are parts of `forward`: encode and decode, or towers.
// Must not add ops that forward does not have.
#pragma once
#include "compiler/entries/Slice.h"

namespace mille::entries {

// A description of a part of `forward`.
struct EntryPart {
  std::string name;
  llvm::SmallVector<unsigned> outputs; // of forward
  int64_t cut = -1;                    // see makeSlice
};

// The parts of `forward`: one for each of several towers, or, for an encoder
// with a decoder, `encode` and `decode`, which takes encode's output as an
// input.
llvm::SmallVector<EntryPart> partsOf(mlir::func::FuncOp forward);

} // namespace mille::entries
