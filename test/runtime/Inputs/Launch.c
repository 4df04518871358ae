/* Every element of an out is computed exactly once, whatever the rows, columns,
 * units, threads and stages, and each task's buffers are as abi.h says.
 * argv[1]: the most threads. */
#include "FakeModel.h"

#include <string.h>

enum { mostElements = 4 << 20 };
static int32_t counts[2][mostElements]; /* [stage][row * columns + column] */
static mille_stage stages[2];
static int32_t stageCount;
static int64_t launchRows, runBatch;
static int launches, fewCalls, manyCalls;

/* Rows x columns (input: row numbers; out: counts). */
static int32_t countRows(void **arguments) {
  const mille_buffer *rows = arguments[1], *out = arguments[3];
  int stage = *(int32_t *)arguments[2];
  const mille_kernel *kernel = stages[stage].kernel;
  const mille_dimension *column = &out->dimension[0], *row = &out->dimension[1];
  CHECK(row->min == 0 && rows->dimension[0].min == 0);
  CHECK(row->extent == rows->dimension[0].extent && row->extent > 0);
  CHECK(column->min % kernel->column_unit == 0 && column->extent > 0);
  const int32_t *first = rows->host;
  CHECK(*first % (int)kernel->row_unit == 0 || stageCount > 1);
  /* The out begins at that row and at the range's first column. */
  CHECK((int32_t *)out->host ==
        counts[stage] + (int64_t)*first * row->stride + column->min);
  for (int m = 0; m < row->extent; ++m) {
    CHECK(first[m] == *first + m);
    for (int n = 0; n < column->extent; ++n) {
      int32_t before = __atomic_fetch_add((int32_t *)out->host +
                                              (int64_t)m * row->stride + n,
                                          1, __ATOMIC_RELAXED);
      CHECK(before == 0);
      /* A stage reads what the one before has written of its rows. */
      if (stage == 1)
        for (int k = 0; k < stages[0].buffers[1].dimension[0].extent; ++k)
          CHECK(counts[0][(int64_t)first[m] *
                              stages[0].buffers[1].dimension[0].extent +
                          k] == 1);
    }
  }
  return 0;
}

static int32_t countFew(void **arguments) {
  __atomic_fetch_add(&fewCalls, 1, __ATOMIC_RELAXED);
  const mille_buffer *out = arguments[3];
  CHECK(out->dimension[1].extent <= 12);
  return countRows(arguments);
}

static int32_t countMany(void **arguments) {
  __atomic_fetch_add(&manyCalls, 1, __ATOMIC_RELAXED);
  const mille_buffer *out = arguments[3];
  CHECK(out->dimension[1].extent > 12);
  return countRows(arguments);
}

/* Sequences x heads x queries (input: row numbers, keys of twice the rows). */
static int32_t countHeads(void **arguments) {
  const mille_buffer *queries = arguments[1], *keys = arguments[2],
                     *out = arguments[4];
  const mille_dimension *c = &out->dimension[0], *row = &out->dimension[1],
                        *head = &out->dimension[2];
  const mille_kernel *kernel = stages[0].kernel;
  int own = (int)(launchRows / runBatch);
  CHECK(queries->dimension[0].min == 0 && keys->dimension[0].min == 0);
  CHECK(queries->dimension[0].extent == own + 8);
  CHECK(keys->dimension[0].extent == 2 * own + 8);
  int first = *(int32_t *)queries->host, keyFirst = *(int32_t *)keys->host;
  CHECK(first % own == 0 && keyFirst == 2 * first);
  CHECK(head->min % kernel->column_unit == 0);
  CHECK(row->min % kernel->row_unit == 0 && row->min + row->extent <= own);
  CHECK((int32_t *)out->host == counts[0] +
                                    (int64_t)(first + row->min) * row->stride +
                                    head->min * head->stride);
  for (int h = 0; h < head->extent; ++h)
    for (int m = 0; m < row->extent; ++m)
      for (int n = 0; n < c->extent; ++n)
        CHECK(__atomic_fetch_add((int32_t *)out->host + m * row->stride +
                                     h * head->stride + n,
                                 1, __ATOMIC_RELAXED) == 0);
  return 0;
}

/* Experts: (row numbers; slots, twice the rows; weight [8, 4] of the expert;
 * out). A task's rows are one expert's, and its weight that expert's. */
static int32_t starts[9];
static float expertWeights[8 * 32];
static int64_t expertRows;

static int32_t countExperts(void **arguments) {
  const mille_buffer *rows = arguments[1], *slots = arguments[2],
                     *weight = arguments[3], *out = arguments[4];
  const mille_dimension *column = &out->dimension[0], *row = &out->dimension[1];
  int first = *(int32_t *)rows->host;
  CHECK(row->min == 0 && row->extent > 0 &&
        row->extent == rows->dimension[0].extent);
  CHECK(slots->dimension[0].extent == 2 * row->extent);
  CHECK(*(int32_t *)slots->host == 2 * first);
  int expert = 0;
  while (first >= starts[expert + 1])
    ++expert;
  CHECK(first + row->extent <= starts[expert + 1]);
  CHECK(weight->dimensions == 2 && weight->dimension[1].extent == 4);
  CHECK(weight->host == expertWeights + expert * 32);
  CHECK((int32_t *)out->host ==
        counts[0] + (int64_t)first * row->stride + column->min);
  for (int m = 0; m < row->extent; ++m)
    for (int n = 0; n < column->extent; ++n)
      CHECK(__atomic_fetch_add((int32_t *)out->host + (int64_t)m * row->stride +
                                   n,
                               1, __ATOMIC_RELAXED) == 0);
  __atomic_fetch_add(&expertRows, row->extent * column->extent,
                     __ATOMIC_RELAXED);
  return 0;
}

/* Only columns are cut: (row numbers, whole; out, whole). */
static int32_t countWhole(void **arguments) {
  const mille_buffer *out = arguments[2];
  const mille_dimension *column = &out->dimension[0], *row = &out->dimension[1];
  CHECK(row->min == 0 && row->extent == launchRows);
  CHECK((int32_t *)out->host == counts[0] + column->min);
  for (int m = 0; m < row->extent; ++m)
    for (int n = 0; n < column->extent; ++n)
      CHECK(__atomic_fetch_add((int32_t *)out->host + (int64_t)m * row->stride +
                                   n,
                               1, __ATOMIC_RELAXED) == 0);
  return 0;
}

static int32_t forward(mille_run *run) {
  ++launches;
  return mille_launch(run, stages, stageCount, launchRows);
}

static const mille_isa isa = {"any", 0};
static const mille_kernel_function rowFunctions[2] = {countFew, countMany},
                                   headFunctions[2] = {countHeads, countHeads};
static mille_kernel kernels[2];
static const mille_kernel *const kernelList[2] = {&kernels[0], &kernels[1]};
static char weights[256];
static int32_t numbers[2 * 4096 + 8];
static mille_buffer buffers[2][4];
static mille_dimension dimensions[2][4][4];
static const int32_t stageNumbers[2] = {0, 1};

static void stageOfRows(int s, int64_t rows, int32_t columns, uint32_t rowUnit,
                        uint32_t columnUnit, uint64_t flops) {
  kernels[s] = (mille_kernel){
      "rows", MILLE_PARTITION_ROWS, 2, 1, columnUnit, rowUnit, 12, 0, flops, 0,
      {0, 1}, rowFunctions};
  fake_buffer(&buffers[s][0], dimensions[s][0], numbers, 0, rows, 0);
  fake_buffer(&buffers[s][1], dimensions[s][1], counts[s], columns, rows, 0);
  stages[s] =
      (mille_stage){&kernels[s], buffers[s], &stageNumbers[s], 0, NULL, 0, 0};
}

static void stageOfHeads(int64_t rows, int64_t sequenceRows, int32_t heads,
                         int32_t columns, uint32_t rowUnit, uint32_t headUnit) {
  kernels[0] = (mille_kernel){"heads",   MILLE_PARTITION_SEQUENCES,
                              3,         1,
                              headUnit,  rowUnit,
                              0,         0,
                              5000,      0,
                              {0, 0, 1}, headFunctions};
  fake_buffer(&buffers[0][0], dimensions[0][0], numbers, 0, rows, 0);
  fake_buffer(&buffers[0][1], dimensions[0][1], numbers, 0, 2 * rows, 0);
  fake_buffer(&buffers[0][2], dimensions[0][2], counts[0], columns, rows, 0);
  buffers[0][2].dimensions = 3;
  dimensions[0][2][1].stride = heads * columns;
  dimensions[0][2][2] = (mille_dimension){0, heads, columns, 0};
  stages[0] = (mille_stage){
      &kernels[0], buffers[0], stageNumbers, sequenceRows, NULL, 0, 0};
}

static const mille_kernel_function expertFunctions[2] = {countExperts,
                                                         countExperts},
                                   wholeFunctions[2] = {countWhole, countWhole};

static void stageOfExperts(int64_t rows, int32_t columns, uint64_t flops) {
  kernels[0] = (mille_kernel){
      "experts",     MILLE_PARTITION_ROWS, 4, 0, 64, 6, 12, 0, flops, 0,
      {0, 0, -1, 1}, expertFunctions};
  fake_buffer(&buffers[0][0], dimensions[0][0], numbers, 0, rows, 0);
  fake_buffer(&buffers[0][1], dimensions[0][1], numbers, 0, 2 * rows, 0);
  fake_buffer(&buffers[0][2], dimensions[0][2], expertWeights, 8, 4, 1);
  buffers[0][2].dimensions = 3;
  dimensions[0][2][2] = (mille_dimension){0, 8, 32, 0};
  fake_buffer(&buffers[0][3], dimensions[0][3], counts[0], columns, rows, 0);
  stages[0] = (mille_stage){&kernels[0], buffers[0], stageNumbers, 0,
                            starts,      8,          1 << 2};
}

static void stageOfColumns(int64_t rows, int32_t columns) {
  kernels[0] = (mille_kernel){
      "whole",  MILLE_PARTITION_ROWS, 2, 0, 16, 1, 0, 0, 100000, 0,
      {-1, -1}, wholeFunctions};
  fake_buffer(&buffers[0][0], dimensions[0][0], numbers, 0, rows, 0);
  fake_buffer(&buffers[0][1], dimensions[0][1], counts[0], columns, rows, 0);
  stages[0] =
      (mille_stage){&kernels[0], buffers[0], stageNumbers, 0, NULL, 0, 0};
}

static void runAndCheck(mille_session *session, int64_t batch, int64_t tokens,
                        int32_t count, int64_t elements0, int64_t elements1) {
  memset(counts[0], 0, 4 * elements0);
  memset(counts[1], 0, 4 * elements1);
  stageCount = count;
  launchRows = batch * tokens;
  runBatch = batch;
  mille_status status = mille_session_run(session, batch, tokens, NULL, NULL);
  EXPECT(status, MILLE_OK, mille_session_message(session), "");
  for (int64_t i = 0; i < elements0; ++i)
    CHECK(counts[0][i] == 1);
  for (int64_t i = 0; i < elements1; ++i)
    CHECK(counts[1][i] == 1);
}

/* A sequence of more numbers than 32 bits count is refused, not read. */
static void tooLong(mille_session *session) {
  stageOfHeads(4096, 4096, 4, 8, 4, 1);
  dimensions[0][0][0].stride = 1 << 20;
  stageCount = 1;
  launchRows = 4096;
  runBatch = 1;
  mille_status status = mille_session_run(session, 1, 4096, NULL, NULL);
  EXPECT(status, MILLE_TOO_LARGE, mille_session_message(session),
         "kernel heads takes 4096 rows of 1048576 numbers in one sequence but "
         "counts to 2147483647: give it fewer tokens");
}

int main(int argc, char **argv) {
  int most = argc > 1 ? atoi(argv[1]) : 64;
  mille_weights_header header = {
      {0}, MILLE_WEIGHTS_VERSION, 0, sizeof weights, 0, 120, 0, 128, "launch"};
  memcpy(header.magic, MILLE_WEIGHTS_MAGIC, 8);
  memcpy(weights, &header, sizeof header);
  static const mille_entry entry = {.name = "forward",
                                    .forward = forward,
                                    .input_count = 0,
                                    .output_count = 0,
                                    .inputs = NULL,
                                    .outputs = NULL,
                                    .arena_bytes_per_row = 64};
  mille_model model = {.abi_version = MILLE_ABI_VERSION,
                       .isa_count = 1,
                       .entry_count = 1,
                       .size_count = 2,
                       .kernel_count = 2,
                       .name = "launch",
                       .isas = &isa,
                       .entries = &entry,
                       .sizes = fakeSizes,
                       .kernels = kernelList,
                       .token_size = 1,
                       .weights_bytes = sizeof weights,
                       .weights = weights};
  model.table_hash = fake_table_hash(weights);
  for (int i = 0; i < 2 * 4096 + 8; ++i)
    numbers[i] = i;
  static const int threads[] = {1, 2, 3, 5, 16, 64};
  static const int rows[] = {1, 2, 5, 6, 7, 12, 13, 47, 48, 96, 97, 500, 1025};
  static const struct {
    int columns;
    uint32_t rowUnit, columnUnit;
    uint64_t flops;
  } shapes[] = {{1, 1, 1, 100},        {64, 6, 64, 90000},
                {768, 6, 64, 1200000}, {192, 12, 64, 9000000},
                {48, 1, 48, 500},      {320, 6, 32, 300000}};
  kernels[0] = kernels[1] =
      (mille_kernel){"none", 0, 1, 0, 1, 1, 0, 0, 0, 0, {-1}, rowFunctions};
  mille_package *package;
  char message[512];
  mille_status status =
      mille_package_open(&model, NULL, NULL, &package, message, sizeof message);
  EXPECT(status, MILLE_OK, message, "");
  for (int t = 0; t < 6 && threads[t] <= most; ++t) {
    mille_session *session;
    status = mille_session_create(package, 16, 4096, threads[t], &session);
    EXPECT(status, MILLE_OK, mille_package_message(package), "");
    tooLong(session);
    for (int r = 0; r < 13; ++r)
      for (int s = 0; s < 6; ++s) {
        int64_t m = rows[r], n = shapes[s].columns;
        stageOfRows(0, m, n, shapes[s].rowUnit, shapes[s].columnUnit,
                    shapes[s].flops);
        runAndCheck(session, 1, m, 1, m * n, 0);
        if (n > 320 || m > 500)
          continue;
        stageOfRows(1, m, 32, 1, 32, 100);
        runAndCheck(session, 1, m, 2, m * n, m * 32);
      }
    for (int r = 0; r < 13; ++r)
      for (int s = 0; s < 3; ++s) {
        int64_t m = rows[r];
        /* Even; all with the fifth; every other without rows. */
        for (int e = 0; e <= 8; ++e)
          starts[e] = (int32_t)(s == 0   ? m * e / 8
                                : s == 1 ? (e > 4 ? m : 0)
                                         : m * (e / 2) / 4);
        stageOfExperts(m, 192, s == 0 ? 100 : 9000000);
        expertRows = 0;
        runAndCheck(session, 1, m, 1, m * 192, 0);
        CHECK(expertRows == m * 192);
        stageOfColumns(m, 100);
        runAndCheck(session, 1, m, 1, m * 100, 0);
      }
    for (int batch = 1; batch <= 16; batch += 5)
      for (int heads = 1; heads <= 12; heads += heads == 1 ? 3 : 8)
        for (int r = 0; r < 10; ++r) {
          int64_t m = (int64_t)batch * rows[r];
          stageOfHeads(m, rows[r], heads, 4, 32, heads % 4 == 0 ? 4 : 1);
          runAndCheck(session, batch, rows[r], 1, m * heads * 4, 0);
        }
    CHECK(mille_session_close(session) == MILLE_OK);
  }
  CHECK(mille_package_close(package) == MILLE_OK);
  CHECK(fewCalls > 0 && manyCalls > 0 && launches > 0);
  return 0;
}
