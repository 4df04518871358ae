// The threads of a block that share parts of rows, while a kernel is written:
// which part is theirs, and one number from all of them.
// Must not know what rows hold.
#pragma once
#include "compiler/nvvm/Builder.h"
#include "compiler/nvvm/Rows.h"

namespace mille::nvvm {

class PartThreads {
public:
  explicit PartThreads(const RowsTile &tile) : tile(tile) {}
  void begin(Builder &builder);
  // Writes `body` once, for each of the `all` parts that this thread shares.
  void each(Reg all, llvm::function_ref<void(Reg part)> body);
  // `two` of the numbers that the threads of the part have, in a fixed tree; of
  // this type.
  Reg combined(Reg number, mlir::Type type,
               llvm::function_ref<Reg(Reg, Reg)> two);

  Reg thread, slot; // in the part's threads; of the parts of the block

private:
  const RowsTile &tile;
  Builder *b = nullptr;
  Reg place; // which of two places numbers go to next
};

} // namespace mille::nvvm
