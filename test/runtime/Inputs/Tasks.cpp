// Prints how the rows and columns of a matmul are cut into tasks, in the order
// of the tasks' numbers.
#include "runtime/Partition.h"

#include <cstdio>
#include <cstdlib>

using namespace mille;

// tasks ROWS COLUMNS INPUTS BYTES THREADS [owned|in-tiles|by-sequence]: BYTES
// of weights, tiles of 8 rows, panels of 48 columns. owned: the matmul is its
// launch's only stage; in-tiles: it uses tile registers; by-sequence: the stage
// is cut by sequences, as attention is.
int main(int count, char **words) {
  if (count != 6 && count != 7)
    return 2;
  const int64_t rows = atoll(words[1]), columns = atoll(words[2]);
  mille_kernel kernel = {};
  kernel.partition = MILLE_PARTITION_ROWS;
  kernel.column_unit = 48;
  kernel.row_unit = 8;
  kernel.flops_per_row = uint64_t(2 * columns * atoll(words[3]));
  kernel.bytes_weights = uint64_t(columns * atoll(words[3]) * atoll(words[4]));
  const int threads = atoi(words[5]);
  if (count == 7 && words[6][0] == 'b')
    kernel.partition = MILLE_PARTITION_SEQUENCES;
  mille_stage stage = {};
  stage.kernel = &kernel;
  Split split;
  if (count == 6)
    split = splitRows(kernel, rows, columns, threads);
  else if (!splitOwned(&stage, 1, rows, threads, words[6][0] == 'i', split))
    return 1;
  for (int64_t k = 0; k < split.tasks(); ++k) {
    int64_t sequence;
    Range down, across;
    split.task(k, sequence, down, across);
    printf("rows %lld to %lld, columns %lld to %lld\n", (long long)down.first,
           (long long)down.end, (long long)across.first, (long long)across.end);
  }
}
