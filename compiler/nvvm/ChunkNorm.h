// A row's norm from statistics of 32 columns each, which are combined in one
// order: the same bits whether a product's blocks take them, whatever their
// tile, or a kernel behind the product. Must not know where statistics lie.
#pragma once
#include "compiler/kernels/Spec.h"
#include "compiler/nvvm/Builder.h"

namespace mille::nvvm {

// Columns of a statistic.
constexpr unsigned chunk = 32;

class ChunkNorm {
public:
  ChunkNorm(Builder &builder, const RowsSpec &norm) : b(builder), norm(norm) {}

  // Of a layer norm the sum and the squares around its own mean, else the
  // squares, behind a number of no meaning. Four lanes have eight of a chunk's
  // numbers each, and all get both.
  Regs take(const Regs &eight);
  struct Factors {
    Reg mean, scale; // (x - mean) * scale
  };
  // From the statistics of so many chunks; of four lanes each reads every
  // fourth. place: the address of a chunk's.
  Factors combine(unsigned chunks, Reg lane,
                  llvm::function_ref<Reg(Reg number)> place);

private:
  bool isCentred() const { return norm.norm == RowStatistic::layer; }
  Reg overLanes(Reg x);

  Builder &b;
  const RowsSpec &norm;
};

} // namespace mille::nvvm
