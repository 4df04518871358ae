// Chooses the sizes of tasks: small enough to balance load and to cancel, large
// enough to pay for a ticket. Must not look at anything but sizes.
#include "runtime/Partition.h"

namespace mille {

namespace {
constexpr int64_t serialFlops = 400000;  // about 4 us: not worth sharing
constexpr int64_t taskFlops = 4000000;   // about 40 us
constexpr int64_t windowFlops = 1000000; // a short sequence's heads together
constexpr int64_t soloFlops = 100000000; // one thread: how soon it can cancel
// Bounds on the rows of a task, so that the rows, which are read again for each
// panel, stay in L2: at least so many rows, and as many as take so many bytes.
// BERT-base in f32 at 512 tokens takes 1 to 4 % less time on Zen 4 than with
// all rows in one task; at 256 the same. In tile registers bf16 and int8 take 5
// to 7 % less with all rows than with 192, because far memory is slow for them.
constexpr int64_t rowsPerTask = 192;
constexpr int64_t inputBytesPerTask = 768 << 10;
constexpr int64_t ownedRowsMost = 192; // what is written stays in cache
// The most flops of a task where several threads run: about 1.3 ms in f32, so
// that a thread yields (Pool.cpp) before the system takes its core in the
// middle of a task. BERT-base at 128 tokens, 2 threads, one core busy: 0.87 to
// 0.94 of one thread's time; with tasks twice as long 0.85 to 1.05.
constexpr int64_t ownedFlops = 150000000;

int64_t divideUp(int64_t value, int64_t by) { return (value + by - 1) / by; }
int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return most(low, least(value, high));
}

// Row-wise kernels have few flops but move their row: each column counts as 16.
int64_t rowWork(const mille_kernel &kernel, int64_t columns) {
  return most(kernel.flops_per_row, 16 * columns);
}
// The bytes of an input row, found from the weight, which has a row of as many
// bytes for each column. Kernels count the numbers of a task's rows in 32 bits;
// no model that compiles has columns of which rowsPerTask rows were too many.
int64_t rowsTogether(const mille_kernel &kernel, int64_t columns) {
  int64_t rowBytes = int64_t(kernel.bytes_weights) / columns;
  return rowBytes ? most(rowsPerTask, least(inputBytesPerTask / rowBytes,
                                            INT32_MAX / columns))
                  : rowsPerTask;
}
} // namespace

Range blockOf(int64_t extent, int64_t unit, int64_t blocks, int64_t k) {
  int64_t units = divideUp(extent, unit);
  return {units * k / blocks * unit,
          least(units * (k + 1) / blocks * unit, extent)};
}

void Split::task(int64_t index, int64_t &sequence, Range &rowRange,
                 Range &columnRange) const {
  columnRange =
      blockOf(columns, columnUnit, columnBlocks, index % columnBlocks);
  index /= columnBlocks;
  sequence = index / rowBlocks;
  rowRange = blockOf(own.rows(sequence), rowUnit, rowBlocks, index % rowBlocks);
}

Split splitRows(const mille_kernel &kernel, int64_t rows, int64_t columns,
                int threads) {
  Split split;
  split.own = {1, rows};
  split.rowUnit = kernel.row_unit;
  split.columns = columns;
  split.columnUnit = least(kernel.column_unit, columns);
  int64_t perRow = rowWork(kernel, columns);
  if (threads > 1 && perRow < serialFlops && perRow * rows < serialFlops)
    threads = 1;
  int64_t rowUnits = divideUp(rows, split.rowUnit);
  int64_t columnUnits = divideUp(columns, split.columnUnit);
  int64_t together = rowsTogether(kernel, columns);
  split.rowBlocks = clamp(divideUp(rows, together), 1, rowUnits);
  int64_t unitFlops = most(perRow / columnUnits, 1) * least(rows, together);
  if (threads == 1) {
    int64_t panels = clamp(soloFlops / unitFlops, 1, columnUnits);
    split.columnBlocks = divideUp(columnUnits, panels);
    return split;
  }
  // Then a slow thread delays a quarter of its share.
  int64_t wanted = 4 * threads;
  int64_t panels =
      clamp(taskFlops / unitFlops, 1, most(columnUnits / wanted, 1));
  split.columnBlocks = divideUp(columnUnits, panels);
  int64_t blocks = divideUp(wanted, split.columnBlocks);
  // A task that is not the whole has at least two tiles of rows.
  blocks = least(blocks, most(rowUnits / 2, 1));
  // A task has enough work to pay for its ticket.
  int64_t columnWork = perRow / split.columnBlocks * rows;
  blocks = least(blocks, most(columnWork / (serialFlops / 4), 1));
  split.rowBlocks = most(split.rowBlocks, blocks);
  return split;
}

Split splitSequences(const mille_kernel &kernel, const Sequences &own,
                     int64_t keys, int64_t heads, int threads) {
  Split split;
  split.own = own;
  int64_t rows = own.longest();
  split.rowUnit = kernel.row_unit;
  split.columns = heads;
  split.columnUnit = least(kernel.column_unit, heads);
  int64_t units = divideUp(heads, split.columnUnit);
  int64_t keyWork = most(kernel.flops_per_row, 1) * keys; // all heads, a query
  if (threads == 1) {
    int64_t unitWork = most(keyWork / units, 1) * rows;
    split.columnBlocks = divideUp(units, clamp(soloFlops / unitWork, 1, units));
    return split;
  }
  split.columnBlocks = units;
  // With many short sequences a single head is so little work that counting it
  // as done, in a cache line that all threads write, would take noticeable
  // time.
  if (own.batch >= 4 * threads) {
    int64_t unitWork = most(keyWork / units, 1) * rows;
    split.columnBlocks =
        divideUp(units, clamp(windowFlops / unitWork, 1, units));
  }
  int64_t tasks = own.batch * split.columnBlocks;
  // Each block of queries prepares the keys again, so blocks are made only
  // where threads would be idle.
  if (tasks < 2 * threads && tasks % threads != 0)
    split.rowBlocks =
        clamp(divideUp(2 * threads, tasks), 1, divideUp(rows, split.rowUnit));
  return split;
}

int64_t usedExperts(const int32_t *starts, int64_t entries) {
  int64_t used = 0;
  for (int64_t e = 0; e < entries; ++e)
    used += starts[e + 1] > starts[e];
  return used;
}

int64_t usedExpert(const int32_t *starts, int64_t k) {
  int64_t e = 0;
  for (;; ++e)
    if (starts[e + 1] > starts[e] && k-- == 0)
      return e;
}

Split splitEntries(const mille_kernel &kernel, const int32_t *starts,
                   int64_t entries, int64_t rows, int64_t columns,
                   int threads) {
  // Of many experts some have more rows, and are done while others wait.
  const bool many = usedExperts(starts, entries) >= 4 * threads;
  return splitRows(kernel, rows, columns, many ? 1 : threads);
}

ExpertSplit splitExperts(const mille_kernel &kernel, const int32_t *starts,
                         int64_t entries, int64_t columns, int threads) {
  // A task has as many columns as if all experts had the same number of rows.
  int64_t used = most(usedExperts(starts, entries), 1);
  int64_t each = divideUp(most(starts[entries] - starts[0], 1), used);
  Split even = splitRows(kernel, each, columns, used >= threads ? 1 : threads);
  ExpertSplit split;
  split.starts = starts;
  split.entries = entries;
  split.columns = columns;
  split.columnUnit = even.columnUnit;
  split.columnBlocks = even.columnBlocks;
  split.blockRows =
      divideUp(divideUp(each, even.rowBlocks), even.rowUnit) * even.rowUnit;
  return split;
}

int64_t ExpertSplit::tasks() const {
  int64_t blocks = 0;
  for (int64_t e = 0; e < entries; ++e)
    blocks += divideUp(starts[e + 1] - starts[e], blockRows);
  return blocks * columnBlocks;
}

void ExpertSplit::task(int64_t index, int64_t &expert, Range &rowRange,
                       Range &columnRange) const {
  int64_t block = index / columnBlocks;
  columnRange =
      blockOf(columns, columnUnit, columnBlocks, index % columnBlocks);
  for (expert = 0;; ++expert) {
    int64_t own = divideUp(starts[expert + 1] - starts[expert], blockRows);
    if (block < own)
      break;
    block -= own;
  }
  int64_t first = starts[expert] + block * blockRows;
  rowRange = {first, least(first + blockRows, starts[expert + 1])};
}

// Whether a kernel's weights are narrower than f32; the bytes that are no
// weights are few.
static bool isNarrow(const mille_kernel &kernel) {
  return kernel.bytes_weights > 0 &&
         kernel.bytes_weights < 3 * (kernel.flops_per_row / 2);
}

bool splitOwned(const mille_stage *stages, int32_t count, int64_t rows,
                int threads, bool inTiles, Split &split) {
  split = Split();
  split.own = {1, rows};
  int64_t perRow = 0;
  for (int32_t s = 0; s < count; ++s) {
    if (stages[s].kernel->partition != MILLE_PARTITION_ROWS)
      return false;
    // Tile registers multiply a panel in less time than it takes to read it
    // from memory. Threads that divide the panels take 0.91 to 0.97 of the time
    // of threads that all read all of them (BERT-base, 128 to 8 x 512 tokens,
    // bf16 and int8, two threads).
    if (threads > 1 && inTiles && isNarrow(*stages[s].kernel))
      return false;
    perRow += stages[s].kernel->flops_per_row;
    // Units are tile heights, 1 to 16: the largest suits the others too.
    split.rowUnit = most(split.rowUnit, stages[s].kernel->row_unit);
  }
  if (threads > 1 && rows < MILLE_OWNED_ROWS * threads)
    return false;
  int64_t blocks = divideUp(rows, ownedRowsMost);
  if (threads > 1)
    blocks = most(blocks, perRow * rows / ownedFlops);
  blocks = divideUp(blocks, threads) * threads; // as many for each thread
  split.rowBlocks = clamp(blocks, 1, divideUp(rows, split.rowUnit));
  return true;
}

} // namespace mille
