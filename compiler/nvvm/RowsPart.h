// The ops of a kernel of rows: the first one, and those that are joined to it.
#pragma once
#include "compiler/nvvm/Rows.h"

namespace mille::nvvm {

struct Part {
  const RowsSpec &rows;
  const BufferSpec &out;
  bool written;
  std::vector<int> sources; // of each input; -1: a buffer
};

std::vector<Part> partsOf(const KernelSpec &spec);
inline bool isNormed(const RowsSpec &s) { return s.norm != RowStatistic::none; }
// Whether an input is read from memory, a number for each column of a row.
bool isElement(const Part &part, size_t input);

} // namespace mille::nvvm
