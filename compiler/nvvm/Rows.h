// Kernels of rows: a norm, gathers and a scalar region, one read and one write.
#pragma once
#include "compiler/kernels/Spec.h"
#include "compiler/nvvm/Kernel.h"

namespace mille::nvvm {

// Blocks of a unit: memory is busy from four on (measured on an H200: 0.85 of
// a copy's bandwidth with one block, 0.97 with eight).
constexpr unsigned blocksPerUnit = 8;
// Columns of a thread, where registers let two blocks fit a unit, and threads.
constexpr int64_t mostColumns = 64, mostThreads = 512;
// Columns that may be normed, or rounded, together.
constexpr int64_t mostNormed = mostColumns * mostThreads;

// How threads share rows. A part is a group of columns that is normed together,
// or a piece of a row.
struct RowsTile {
  RowsTile(const KernelSpec &spec);

  int64_t parts;     // of a row
  int64_t columns;   // of a part
  unsigned vector;   // columns that a thread reads at a time
  unsigned threads;  // of a part, a power of two
  unsigned steps;    // vectors of a thread
  unsigned together; // parts that a block has at a time
  unsigned blockThreads() const { return threads * together; }
};

// Empty if the generator makes it, else the reason.
std::string whyNotRows(const KernelSpec &spec);
std::string wordsOf(const RowsTile &tile);
Kernel writeRows(mlir::MLIRContext &context, const KernelSpec &spec,
                 const std::string &entry);

} // namespace mille::nvvm
