// Which elements of a tile a thread of a group (128 threads) holds, and where
// they lie in shared memory. Must not compute with them.
#pragma once
#include "compiler/nvvm/Builder.h"

namespace mille::nvvm {

// A line of shared memory as tensor maps lay it: 128 bytes, of which the
// 16-byte part p of line r lies at p ^ (r % 8). A panel is a tile of such lines
// and starts at a multiple of 1024 bytes.
constexpr unsigned lineBytes = 128;
constexpr unsigned lineColumns = 64; // bf16 of a line
// Threads of a warp group, which multiply together.
constexpr unsigned groupThreads = 128;
// The K of one product of bf16.
constexpr unsigned productDepth = 16;

// The accumulator of 64 rows. Register i of a thread holds the row
// row + 8 * (i / 2 % 2) and the column column + 8 * (i / 4) + i % 2.
class Fragments {
public:
  // thread: the number within the group.
  Fragments(Builder &builder, Reg thread);

  Reg row, column; // of its first register

  // The lane's address for storeMatrices and loadMatrices of the columns
  // 16 * q ... 16 * q + 15 of a panel of 64 bf16 columns. The four words are
  // registers 8 * q ... of the accumulator, two to a word.
  Reg matrixAddress(Reg panel, unsigned q);
  // This thread's f32 of a line in a panel of 32 columns: registers 2 * h and
  // 2 * h + 1 of the 8 columns 8 * j, for j = 0 ... 3. Of two neighbouring
  // rows, which share banks, one goes through the columns in another order.
  void storePairs(Reg panel, unsigned h, llvm::ArrayRef<Reg> eight);
  Regs loadPairs(Reg panel, unsigned h);

private:
  Reg pairAddress(Reg panel, unsigned h, unsigned slot);

  Builder &b;
  Reg matrixLine, matrixXor, matrixPart;
  Reg pairPart, odd;
};

// The descriptor of an operand at `address` (addressOf) in panels: 8 rows lie
// 1024 bytes apart. panelBytes: from one panel to the next, of an operand with
// rows of K; of a K-major operand it is not read.
Reg descriptor(Reg address, unsigned panelBytes = 16);
// To add to a descriptor, for an operand that starts so many bytes later.
Operand descriptorStep(unsigned bytes);

} // namespace mille::nvvm
