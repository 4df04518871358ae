// Cuts the work of a launch into tasks. Pure arithmetic.
// Must not influence results: kernels give the same bits for any cut.
#pragma once
#include "runtime/Padding.h"

namespace mille {

struct Range {
  int64_t first, end;
};

// Block k of `extent` cut into `blocks` at multiples of `unit`, as even as
// possible; blocks <= units of the extent, so none is empty.
Range blockOf(int64_t extent, int64_t unit, int64_t blocks, int64_t k);

// Rows starts[e] to starts[e + 1] - 1 belong to expert e: tasks are blocks of
// one expert's rows x ranges of columns.
struct ExpertSplit {
  const int32_t *starts = nullptr;
  int64_t entries = 0, blockRows = 1;
  int64_t columns = 1, columnUnit = 1, columnBlocks = 1;

  int64_t tasks() const;
  void task(int64_t index, int64_t &expert, Range &rows, Range &columns) const;
};

struct Split {
  Sequences own; // a single one, where all rows are cut together
  int64_t rowUnit = 1, rowBlocks = 1;                    // of a sequence
  int64_t columns = 1, columnUnit = 1, columnBlocks = 1; // or heads

  int64_t tasks() const { return own.batch * rowBlocks * columnBlocks; }
  // Rows are outermost, so that the tasks of one thread read the same rows for
  // all panels. A sequence that is shorter than others may have no rows in a
  // block.
  void task(int64_t index, int64_t &sequence, Range &rows,
            Range &columns) const;
};

// One stage over rows x columns.
Split splitRows(const mille_kernel &kernel, int64_t rows, int64_t columns,
                int threads);
// One stage over sequences x heads, and blocks of queries where these are few.
Split splitSequences(const mille_kernel &kernel, const Sequences &own,
                     int64_t keys, int64_t heads, int threads);
// One stage over the rows of experts.
ExpertSplit splitExperts(const mille_kernel &kernel, const int32_t *starts,
                         int64_t entries, int64_t columns, int threads);
// One entry of a stacked out: each expert that has rows is cut alike.
Split splitEntries(const mille_kernel &kernel, const int32_t *starts,
                   int64_t entries, int64_t rows, int64_t columns, int threads);
// Experts that have rows, and which the k-th of them is.
int64_t usedExperts(const int32_t *starts, int64_t entries);
int64_t usedExpert(const int32_t *starts, int64_t k);
// Several stages over the same rows: one task takes a block of rows through all
// of them. False where threads would get too few rows for that, or where
// several threads multiply narrow weights in tile registers.
bool splitOwned(const mille_stage *stages, int32_t count, int64_t rows,
                int threads, bool inTiles, Split &split);

} // namespace mille
