// Loads are clamped, so that nothing lies outside of a buffer.
// Must round as the op says: the sum once, the outlier's product once.
#include "compiler/nvvm/ByteSums.h"

namespace mille::nvvm {

// Buffers of a matmul of bytes, in the order of its calling convention.
constexpr uint32_t weightBuffer = 1, parametersBuffer = 2, sumsBuffer = 3;
constexpr int64_t sumBytes = 4;

ByteSums::ByteSums(const MatmulSpec &matmul, Launch &launch) : matmul(matmul) {
  if (!isOfBytes())
    return;
  weight = launch.addAddress(weightBuffer);
  parameters = launch.addAddress(parametersBuffer);
  sums = launch.addAddress(sumsBuffer);
}

void ByteSums::begin(Builder &builder, Reg numberOfRows) {
  b = &builder;
  rows = numberOfRows;
  if (!isOfBytes())
    return;
  weightStart = b->argument(weight);
  sumsStart = b->argument(sums);
}

void ByteSums::enter(Reg expert, Reg end) {
  rows = end;
  if (!isOfBytes())
    return;
  const int64_t entry = matmul.columns * matmul.accumulators;
  Reg first = b->widen(expert) * entry; // row of the weights of all experts
  weightStart = b->at(b->argument(weight), first * matmul.inner);
  sumsStart = b->at(b->argument(sums), first * sumBytes);
}

// A row with a NaN may have any column.
ByteSums::Row ByteSums::row(Reg number) {
  constexpr int64_t bytes = 4 * sizeof(float);
  static_assert(bytes == 16, "one load of 16 bytes");
  Reg line = b->widenSigned(b->minSigned(number, rows - 1)) *
             (matmul.parameters.rowStride * int64_t(sizeof(float)));
  Regs of = b->elements(b->load(b->at(b->argument(parameters), line),
                                b->vectorOf(4, b->f32()), bytes));
  Reg column =
      b->minSigned(b->maxSigned(b->toInteger(of[3]), 0), matmul.inner - 1);
  return {of[0], b->toInteger(of[1]), of[2], b->at(weightStart, column)};
}

ByteSums::Columns ByteSums::columns(Reg first, unsigned count, Reg own) {
  const bool whole = matmul.columns % count == 0;
  if (whole)
    first = b->minSigned(first, matmul.columns - int64_t(count));
  return {first + own, whole};
}

std::vector<ByteSums::Correction> ByteSums::corrections(const Row &row,
                                                        unsigned accumulator,
                                                        const Columns &columns,
                                                        unsigned further) {
  std::vector<Correction> two;
  for (unsigned e : {0, 1}) {
    Reg column = columns.first;
    int64_t behind = further + e;
    if (!columns.whole) {
      column = b->minSigned(column + behind, matmul.columns - 1);
      behind = 0;
    }
    Reg line = b->widen(column + int64_t(accumulator * matmul.columns));
    Reg ofRow = b->load(
        b->at(b->at(sumsStart, line * sumBytes), behind * sumBytes), b->i32());
    Reg met = b->load(
        b->at(b->at(row.column, line * matmul.inner), behind * matmul.inner),
        b->i8(), 1);
    two.push_back({row.zero * ofRow, row.outlier * b->toFloat(met)});
  }
  return two;
}

Reg ByteSums::number(Reg sum, const Row &row,
                     const Correction &correction) const {
  return b->fma(b->toFloat(sum - correction.zeros), row.step,
                correction.outlier);
}

} // namespace mille::nvvm
