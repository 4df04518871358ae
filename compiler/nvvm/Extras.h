// What a matmul's epilogue reads beside its sums, straight from global memory.
// Must not know tiles.
#pragma once
#include "compiler/kernels/Spec.h"
#include "compiler/nvvm/Builder.h"

namespace mille::nvvm {

class Extras {
public:
  // Adds their addresses to the launch.
  Extras(const MatmulSpec &matmul, Launch &launch);
  // Before all of the following. rows: of the out.
  void begin(Builder &builder, Reg rows);

  unsigned count() const { return matmul.extras.size(); }
  Reading reading(unsigned extra) const { return matmul.extras[extra].reading; }
  // At this row, or the last one.
  Reg atRow(unsigned extra, Reg row);
  Reg scalar(unsigned extra);
  // At this column and the next one, or the last ones.
  Regs atColumns(unsigned extra, Reg column);
  Regs atElements(unsigned extra, Reg row, Reg column);

private:
  Reg one(unsigned extra, Reg pointer);
  Regs two(unsigned extra, Reg line, Reg column);
  Reg clampedRow(Reg row);

  const MatmulSpec &matmul;
  std::vector<unsigned> arguments;
  Builder *b = nullptr;
  Reg rows;
};

} // namespace mille::nvvm
