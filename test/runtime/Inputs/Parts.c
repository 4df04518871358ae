/* Attention whose keys are taken apart: each part is given once, of the keys
 * that the sequence has, and they are put together once, after the last of
 * them; sequences of more rows are the other kernel's. argv[1]: the most
 * threads. */
#include "FakeModel.h"

#include <string.h>

enum {
  mostBatch = 12,
  mostHeads = 12,
  columns = 3,
  fewRows = 4,
  room = 512,
  stretchKeys = 8,
  mostParts = room / stretchKeys
};
static int32_t given[mostBatch][mostHeads][fewRows][mostParts];
static int32_t counts[mostBatch * mostHeads * room * columns];
static int32_t numbers[mostBatch * room + 8], past[mostBatch];
static int32_t ownRows, heads, launch, partCalls, joinCalls, manyCalls;

/* What a part holds: no other launch's is taken for it. */
static float valueOf(int sequence, int head, int row, int part, int column) {
  return (float)(((sequence * mostHeads + head) * fewRows + row) * mostParts +
                 part + column + launch % 7);
}

static int sequenceOf(void **arguments) {
  const mille_buffer *query = arguments[1], *key = arguments[2];
  int sequence = *(int32_t *)query->host / ownRows;
  CHECK(*(int32_t *)query->host % ownRows == 0);
  CHECK(*(int32_t *)key->host == sequence * room);
  return sequence;
}
/* No state's panels are shared here: the table is of zeros. */
static void checkShifts(const mille_buffer *shifts) {
  CHECK(shifts->dimensions == 1 && shifts->type_code == MILLE_CODE_INT);
  CHECK(shifts->dimension[0].extent > room / 16);
  for (int p = 0; p < shifts->dimension[0].extent; ++p)
    CHECK(((int32_t *)shifts->host)[p] == 0);
}
static void checkScalars(void **scalars, int sequence) {
  CHECK(*(int32_t *)scalars[0] == ownRows);
  CHECK(*(int32_t *)scalars[1] == past[sequence] + ownRows);
  CHECK(*(int32_t *)scalars[2] == past[sequence]);
}

static float *partAt(const mille_buffer *part, int row, int head, int number) {
  const mille_dimension *d = part->dimension;
  CHECK(part->dimensions == 4 && part->type_code == MILLE_CODE_FLOAT);
  CHECK(d[0].min == 0 && d[0].extent == columns && d[0].stride == 1);
  return (float *)part->host + (int64_t)(row - d[1].min) * d[1].stride +
         (int64_t)(head - d[2].min) * d[2].stride +
         (int64_t)(number - d[3].min) * d[3].stride;
}
#define EACH(VARIABLE, DIMENSION)                                              \
  for (int VARIABLE = (DIMENSION).min;                                         \
       VARIABLE < (DIMENSION).min + (DIMENSION).extent; ++VARIABLE)

static int32_t giveParts(void **arguments) {
  __atomic_fetch_add(&partCalls, 1, __ATOMIC_RELAXED);
  const mille_buffer *values = arguments[7], *marks = arguments[8];
  const mille_dimension *d = values->dimension;
  int sequence = sequenceOf(arguments);
  checkShifts(arguments[3]);
  checkScalars(arguments + 4, sequence);
  CHECK(memcmp(d, marks->dimension, 4 * sizeof *d) == 0);
  CHECK(d[1].min == 0 && d[1].extent == ownRows && d[2].min % 2 == 0);
  CHECK(d[3].extent > 0 &&
        (d[3].min + d[3].extent - 1) * stretchKeys < past[sequence] + ownRows);
  EACH(part, d[3])
  EACH(head, d[2])
  EACH(row, d[1]) {
    int32_t *count = &given[sequence][head][row][part];
    CHECK(__atomic_fetch_add(count, 1, __ATOMIC_RELAXED) == 0);
    for (int c = 0; c < columns; ++c) {
      float value = valueOf(sequence, head, row, part, c);
      partAt(values, row, head, part)[c] = value;
      partAt(marks, row, head, part)[c] = -value;
    }
  }
  return 0;
}

static void countOut(const mille_buffer *out) {
  const mille_dimension *d = out->dimension;
  for (int h = 0; h < d[2].extent; ++h)
    for (int m = 0; m < d[1].extent; ++m)
      for (int c = 0; c < columns; ++c)
        CHECK(__atomic_fetch_add((int32_t *)out->host + m * d[1].stride +
                                     h * d[2].stride + c,
                                 1, __ATOMIC_RELAXED) == 0);
}

static int32_t joinParts(void **arguments) {
  __atomic_fetch_add(&joinCalls, 1, __ATOMIC_RELAXED);
  const mille_buffer *values = arguments[3], *marks = arguments[4],
                     *out = arguments[8];
  const mille_dimension *d = values->dimension, *o = out->dimension;
  int sequence = sequenceOf(arguments);
  checkScalars(arguments + 5, sequence);
  CHECK(memcmp(d, marks->dimension, 4 * sizeof *d) == 0);
  CHECK(d[1].min == o[1].min && d[1].extent == o[1].extent);
  CHECK(d[2].min == o[2].min && d[2].extent == o[2].extent);
  CHECK(d[3].min == 0 &&
        d[3].extent ==
            (past[sequence] + ownRows + stretchKeys - 1) / stretchKeys);
  EACH(part, d[3])
  EACH(head, d[2])
  EACH(row, d[1])
  for (int c = 0; c < columns; ++c) {
    float value = valueOf(sequence, head, row, part, c);
    CHECK(partAt(values, row, head, part)[c] == value);
    CHECK(partAt(marks, row, head, part)[c] == -value);
  }
  CHECK((int32_t *)out->host ==
        counts + ((int64_t)sequence * ownRows + o[1].min) * o[1].stride +
            o[2].min * o[2].stride);
  countOut(out);
  return 0;
}

static int32_t countMany(void **arguments) {
  __atomic_fetch_add(&manyCalls, 1, __ATOMIC_RELAXED);
  checkShifts(arguments[3]);
  checkScalars(arguments + 4, sequenceOf(arguments));
  countOut(arguments[7]);
  return 0;
}
static int32_t noKernel(void **arguments) {
  (void)arguments;
  CHECK(0);
  return 1;
}

static const mille_isa isa = {"any", 0};
static const mille_kernel_function functions[2] = {giveParts, countMany},
                                   wholes[2] = {countMany, countMany},
                                   joins[1] = {joinParts}, none[1] = {NULL},
                                   unused[2] = {noKernel, noKernel};
static mille_kernel kernel = {.name = "heads",
                              .partition = MILLE_PARTITION_SEQUENCES,
                              .buffer_count = 3,
                              .scalar_count = 3,
                              .column_unit = 2,
                              .row_unit = 2,
                              .few_rows = 1, /* which counts on a device */
                              .flops_per_row = 5000,
                              .row_dimension = {0, 0, 1},
                              .functions = functions,
                              .joins = joins,
                              .part_rows = fewRows,
                              .part_bytes = 8 * mostHeads * columns,
                              .stretch_keys = stretchKeys,
                              .panels = 1};
static const mille_kernel other = {.name = "other",
                                   .buffer_count = 1,
                                   .column_unit = 1,
                                   .row_unit = 1,
                                   .row_dimension = {-1},
                                   .functions = unused};
static const mille_kernel *const kernels[2] = {&other, &kernel};
static mille_buffer buffers[3];
static mille_dimension dimensions[3][4];
static const int32_t scalars[3];
static mille_stage stage;

static int32_t forward(mille_run *run) {
  return mille_launch(run, &stage, 1, run->batch * ownRows);
}

static void runOne(mille_session *session, int batch, int rows, int headCount,
                   int held) {
  ownRows = rows;
  heads = headCount;
  ++launch;
  for (int s = 0; s < batch; ++s)
    past[s] = (held + 37 * s) % (room - rows);
  fake_buffer(&buffers[0], dimensions[0], numbers, 0, batch * rows, 0);
  fake_buffer(&buffers[1], dimensions[1], numbers, 0, batch * room, 0);
  fake_buffer(&buffers[2], dimensions[2], counts, columns, batch * rows, 0);
  buffers[2].dimensions = 3;
  dimensions[2][1].stride = heads * columns;
  dimensions[2][2] = (mille_dimension){0, heads, columns, 0};
  stage = (mille_stage){.kernel = &kernel,
                        .buffers = buffers,
                        .scalars = scalars,
                        .sequence_rows = rows,
                        .token_buffers = 1 | 1 << 2,
                        .token_scalars = 1,
                        .past = past,
                        .key_scalars = 1 << 1,
                        .first_scalars = 1 << 2};
  memset(given, 0, sizeof given);
  memset(counts, 0, sizeof counts);
  int32_t parts = partCalls, joined = joinCalls, many = manyCalls;
  const void *ids = NULL;
  mille_status status = mille_session_run(session, batch, rows, &ids, NULL);
  EXPECT(status, MILLE_OK, mille_session_message(session), "");
  int apart = rows <= fewRows && kernel.joins == joins;
  CHECK((partCalls > parts) == apart && (joinCalls > joined) == apart);
  CHECK((manyCalls > many) == !apart);
  for (int i = 0; i < batch * rows * heads * columns; ++i)
    CHECK(counts[i] == 1);
  for (int s = 0; apart && s < batch; ++s)
    for (int h = 0; h < heads; ++h)
      for (int m = 0; m < rows; ++m)
        for (int p = 0; p * stretchKeys < past[s] + rows; ++p)
          CHECK(given[s][h][m][p] == 1);
}

int main(int argc, char **argv) {
  int most = argc > 1 ? atoi(argv[1]) : 64;
  static char weights[256];
  mille_weights_header header = {
      {0}, MILLE_WEIGHTS_VERSION, 0, sizeof weights, 0, 120, 0, 128, "parts"};
  memcpy(header.magic, MILLE_WEIGHTS_MAGIC, 8);
  memcpy(weights, &header, sizeof header);
  static const mille_tensor_info ids = {.name = "ids",
                                        .type = MILLE_I32,
                                        .rank = 2,
                                        .shape = {~0, ~1},
                                        .fallback = MILLE_DEFAULT_ZEROS};
  static const mille_entry entry = {.name = "forward",
                                    .forward = forward,
                                    .input_count = 1,
                                    .inputs = &ids,
                                    .mask_input = MILLE_NO_INPUT,
                                    .past_input = MILLE_NO_INPUT,
                                    .arena_bytes_per_row = 64};
  static const mille_tensor_info state = {
      .name = "keys", .type = MILLE_F32, .rank = 4, .shape = {1, ~0, room, 1}};
  mille_model model = {.abi_version = MILLE_ABI_VERSION,
                       .isa_count = 1,
                       .entry_count = 1,
                       .size_count = 2,
                       .state_count = 1,
                       .kernel_count = 2,
                       .name = "parts",
                       .isas = &isa,
                       .entries = &entry,
                       .sizes = fakeSizes,
                       .states = &state,
                       .kernels = kernels,
                       .token_size = 1,
                       .weights_bytes = sizeof weights,
                       .weights = weights};
  model.table_hash = fake_table_hash(weights);
  for (int i = 0; i < mostBatch * room + 8; ++i)
    numbers[i] = i;
  mille_package *package;
  char message[512];
  mille_status status =
      mille_package_open(&model, NULL, NULL, &package, message, sizeof message);
  EXPECT(status, MILLE_OK, message, "");
  static const int threads[] = {1, 2, 3, 7, 64},
                   rows[] = {1, 2, fewRows, fewRows + 1, 40},
                   held[] = {0, 6, 7, 100, 460};
  for (int t = 0; t < 5 && threads[t] <= most; ++t) {
    mille_session *session;
    status = mille_session_create(package, mostBatch, 64, threads[t], &session);
    EXPECT(status, MILLE_OK, mille_package_message(package), "");
    for (int batch = 1; batch <= mostBatch; batch += batch == 1 ? 4 : 7)
      for (int headCount = 2; headCount <= mostHeads; headCount += 5)
        for (int r = 0; r < 5; ++r)
          for (int h = 0; h < 5; ++h)
            runOne(session, batch, rows[r], headCount, held[h]);
    /* An instruction set without parts. */
    kernel.functions = wholes;
    kernel.joins = none;
    runOne(session, 2, 1, 4, 100);
    kernel.functions = functions;
    kernel.joins = joins;
    CHECK(mille_session_close(session) == MILLE_OK);
  }
  CHECK(mille_package_close(package) == MILLE_OK);
  return 0;
}
