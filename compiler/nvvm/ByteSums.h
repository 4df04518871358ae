// Sums of products of bytes as the numbers that they stand for: each row has a
// step, a zero, and an outlier that is not among its bytes. Must not sum.
#pragma once
#include "compiler/kernels/Spec.h"
#include "compiler/nvvm/Builder.h"

namespace mille::nvvm {

class ByteSums {
public:
  // Adds addresses to the launch, none if the operands are not bytes.
  ByteSums(const MatmulSpec &matmul, Launch &launch);
  bool isOfBytes() const { return matmul.ofBytes(); }
  // Before all of the following. rows: of the out.
  void begin(Builder &builder, Reg rows);
  // From here on rows below `end`, which are this expert's.
  void enter(Reg expert, Reg end);

  struct Row {
    Reg step, zero, outlier;
    Reg column; // of the weight's first row, that meets the outlier: an address
  };
  // This row's, or the last one's.
  Row row(Reg number);
  // What a sum has too much, and what the number is short of then.
  struct Correction {
    Reg zeros, outlier;
  };
  // Columns that a tile reads together. Where such are whole everywhere, none
  // but the first is clamped: the others lie at constants behind it.
  struct Columns {
    Reg first; // a thread's own, even
    bool whole;
  };
  Columns columns(Reg first, unsigned count, Reg own);
  // At a thread's column `further` on, and the next one, or the last ones.
  std::vector<Correction> corrections(const Row &row, unsigned accumulator,
                                      const Columns &columns, unsigned further);
  Reg number(Reg sum, const Row &row, const Correction &correction) const;

private:
  const MatmulSpec &matmul;
  unsigned weight = 0, parameters = 0, sums = 0; // arguments
  Builder *b = nullptr;
  Reg rows, weightStart, sumsStart;
};

} // namespace mille::nvvm
