// Single elements of a matmul's extras and of its out, straight from and to
// global memory. Must not know tiles.
#pragma once
#include "compiler/kernels/Spec.h"
#include "compiler/nvvm/Builder.h"

namespace mille::nvvm {

class Extras {
public:
  // Adds the addresses of the extras and of the out to the launch.
  Extras(const KernelSpec &spec, Launch &launch);
  // Before all of the following. rows: of the out.
  void begin(Builder &builder, Reg rows);
  // From here on rows below `end`, which are this expert's.
  void enter(Reg expert, Reg end);

  unsigned count() const { return matmul.extras.size(); }
  Reading reading(unsigned extra) const { return matmul.extras[extra].reading; }
  // At this row, or the last one.
  Reg atRow(unsigned extra, Reg row);
  Reg scalar(unsigned extra);
  // At this even column and the next one, or the last ones.
  Regs atColumns(unsigned extra, Reg column);
  Regs atElements(unsigned extra, Reg row, Reg column);
  // Two values of any extra, for these two elements of the out.
  Regs at(unsigned extra, Reg row, Reg column);
  // Two elements of the out, of which those inside of it are stored.
  void store(const Regs &pair, Reg row, Reg column);

private:
  Reg one(unsigned extra, Reg pointer);
  Regs two(unsigned extra, Reg line, Reg column);
  Reg clampedRow(Reg row);
  Reg startOf(unsigned extra); // of its entry by expert
  void storeOne(Reg value, Reg line, Reg column);

  const BufferSpec &out;
  const MatmulSpec &matmul;
  std::vector<unsigned> arguments;
  unsigned outArgument;
  Builder *b = nullptr;
  Reg rows, expert;
};

} // namespace mille::nvvm
