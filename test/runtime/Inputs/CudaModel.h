/* The model that Cuda.c runs on a device of CUDA: its kernels as the device
 * runs them, and what generated code does for kernels, of both forms: host code
 * that dispatches, and a table of arguments. */
#include "FakeCudaDriver.h"
#include "runtime/Backends.h"
#include "runtime/mille.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { columns = 16, most = 60 };

/* ---- The kernels, as the device runs them -------------------------------- */

/* (x, y, count): y = 2 x */
static void twiceOnDevice(void **arguments, const unsigned blocks[3],
                          unsigned shared) {
  const float *x = *(const float **)arguments[0];
  float *y = *(float **)arguments[1];
  const int32_t count = *(int32_t *)arguments[2];
  CHECK(blocks[0] == (unsigned)(count + 15) / 16 && shared == 32);
  for (int i = 0; i < count; ++i)
    y[i] = 2 * x[i];
}
static const fake_cuda_kernel twiceCode = {
    FAKE_CUDA_MAGIC, "twice", twiceOnDevice, 3, {8, 8, 4}};

/* (map of x, numbers, y, rows, zeros): y = x + the row's number */
static void addOnDevice(void **arguments, const unsigned blocks[3],
                        unsigned shared) {
  const uint64_t *map = arguments[0];
  const float *x = (const float *)map[0];
  const int32_t *numbers = *(const int32_t **)arguments[1];
  float *y = *(float **)arguments[2];
  const int32_t rows = *(int32_t *)arguments[3];
  uint32_t *zeros = *(uint32_t **)arguments[4];
  const uint32_t *box = (const uint32_t *)(map + 12);
  /* two dimensions of f32 */
  CHECK(map[1] == ((uint64_t)7 << 32 | 2));
  CHECK(map[2] == columns && map[3] == (uint64_t)rows && map[8] == columns * 4);
  CHECK(box[0] == columns && box[1] == 8);
  /* a tile of three rows a block, but no more blocks than units */
  CHECK(blocks[0] == (unsigned)((rows + 2) / 3 < 4 ? (rows + 2) / 3 : 4));
  CHECK(shared == 100 << 10 && *zeros == 0);
  *zeros = 1;
  for (int m = 0; m < rows; ++m)
    for (int n = 0; n < columns; ++n)
      y[m * columns + n] = x[m * columns + n] + (float)numbers[m];
}
static const fake_cuda_kernel addCode = {
    FAKE_CUDA_MAGIC, "add", addOnDevice, 5, {128, 8, 8, 4, 8}};

/* (x, y, rows): y = x */
static unsigned nextBlocks = 1;
static int nextIsApart;
static void nextOnDevice(void **arguments, const unsigned blocks[3],
                         unsigned shared) {
  const float *x = *(float **)arguments[0];
  float *y = *(float **)arguments[1];
  const int32_t rows = *(int32_t *)arguments[2];
  CHECK(blocks[0] == nextBlocks && (shared == 0 || nextIsApart));
  memcpy(y, x, sizeof *x * rows * columns);
}
static const fake_cuda_kernel nextCode = {
    FAKE_CUDA_MAGIC, "next", nextOnDevice, 3, {8, 8, 4}};

/* (x, y, rows), behind `next`, whose y is there. */
static int behindRuns;
static void behindOnDevice(void **arguments, const unsigned blocks[3],
                           unsigned shared) {
  const int32_t rows = *(int32_t *)arguments[2];
  CHECK(blocks[0] == (unsigned)rows && shared == 64);
  CHECK(memcmp(*(float **)arguments[0], *(float **)arguments[1],
               sizeof(float) * rows * columns) == 0);
  ++behindRuns;
}
static const fake_cuda_kernel behindCode = {
    FAKE_CUDA_MAGIC, "behind", behindOnDevice, 3, {8, 8, 4}};

/* ---- What generated code does for them ----------------------------------- */

static const void *twiceModule = &twiceCode;
static uint32_t twiceKind = MILLE_MODULE_CUBIN;
static int64_t items = 16;

static int32_t twiceFunction(void **arguments) {
  mille_task *task = *(mille_task **)arguments[0];
  mille_buffer *x = arguments[1], *y = arguments[2];
  int32_t count = x->dimension[1].extent * columns;
  int32_t code = mille_device_module(task, twiceKind, twiceModule, 1);
  if (code)
    return code;
  const size_t sizes[] = {8, 8, 4, 0};
  void *const values[] = {x, y, &count};
  const int8_t isBuffer[] = {1, 1, 0};
  mille_dispatch dispatch = {
      "twice", {(count + 15) / 16, 1, 1}, {items, 1, 1}, 32, sizes, values,
      isBuffer};
  return mille_device_run(task, &dispatch);
}

#define ONE(times) {MILLE_COUNT_ONE, times, 1}
static const mille_launch_argument addArguments[] = {
    {MILLE_ARGUMENT_TENSOR,
     0,
     {0},
     2,
     {columns, 8},
     {ONE(columns), {MILLE_COUNT_ROWS, 1, 1}},
     {{0}, ONE(columns * 4)}},
    {.kind = MILLE_ARGUMENT_ADDRESS, .number = 1},
    {.kind = MILLE_ARGUMENT_ADDRESS, .number = 2},
    {.kind = MILLE_ARGUMENT_AMOUNT, .amount = {MILLE_COUNT_ROWS, 1, 1}},
    {.kind = MILLE_ARGUMENT_ZEROS, .amount = ONE(4)}};
static mille_device_kernel addKernel = {
    .entry = "add",
    .cubin = &addCode,
    .cubin_bytes = sizeof addCode,
    .threads = 128,
    .cluster = 1,
    .shared_bytes = 100 << 10,
    .blocks_per_unit = 1,
    .tiles = {{MILLE_COUNT_ROWS, 1, 3}, ONE(1), ONE(1)},
    .argument_count = 5,
    .arguments = addArguments};

static int32_t addFunction(void **arguments) {
  return mille_device_launch(*(mille_task **)arguments[0], &addKernel,
                             arguments + 1);
}

/* It waits for the kernels before it, so it may start before they end. */
static const mille_launch_argument nextArguments[] = {
    {.kind = MILLE_ARGUMENT_ADDRESS, .number = 0},
    {.kind = MILLE_ARGUMENT_ADDRESS, .number = 1},
    {.kind = MILLE_ARGUMENT_AMOUNT, .amount = {MILLE_COUNT_ROWS, 1, 1}}};
static mille_device_kernel nextKernel = {.entry = "next",
                                         .cubin = &nextCode,
                                         .cubin_bytes = sizeof nextCode,
                                         .threads = 128,
                                         .cluster = 1,
                                         .tiles = {ONE(1), ONE(1), ONE(1)},
                                         .argument_count = 3,
                                         .overlaps = 1,
                                         .arguments = nextArguments};

static const mille_device_kernel behindKernel = {
    .entry = "behind",
    .cubin = &behindCode,
    .cubin_bytes = sizeof behindCode,
    .threads = 128,
    .cluster = 1,
    .shared_bytes = 64,
    .tiles = {{MILLE_COUNT_ROWS, 1, 1}, ONE(1), ONE(1)},
    .argument_count = 3,
    .arguments = nextArguments};

static int32_t nextFunction(void **arguments) {
  return mille_device_launch(*(mille_task **)arguments[0], &nextKernel,
                             arguments + 1);
}

static const mille_kernel_function functions[3][2] = {
    {twiceFunction, twiceFunction},
    {addFunction, addFunction},
    {nextFunction, nextFunction}};
static const mille_kernel
    twice =
        {"mille_k_twice", MILLE_PARTITION_ROWS, 2, 0, columns, 1, 0, 0, 0, 0,
         {1, 1},          functions[0]},
    add = {"mille_k_add", MILLE_PARTITION_ROWS, 3, 0, columns, 1, 0, 0, 0, 0,
           {1, 0, 1},     functions[1]},
    next = {"mille_k_next", MILLE_PARTITION_ROWS, 2, 0, columns, 1, 0, 0, 0, 0,
            {1, 1},         functions[2]};
static const mille_kernel *const kernels[] = {&twice, &add, &next};
static int nextKernels; /* at the end of the program */

static int32_t launch(mille_run *run, const mille_kernel *kernel, float *from,
                      int32_t *numbers, float *to) {
  mille_buffer buffers[3];
  mille_dimension dimensions[3][2];
  const uint32_t out = kernel->buffer_count - 1;
  fake_buffer(&buffers[0], dimensions[0], from, columns, run->batch, 1);
  fake_buffer(&buffers[1], dimensions[1], numbers, (int32_t)run->batch, 1, 0);
  buffers[1].dimensions = 1;
  fake_buffer(&buffers[out], dimensions[out], to, columns, run->batch, 1);
  mille_stage stage = {kernel, buffers, NULL, 0, NULL, 0, 0, 0, 0};
  return mille_launch(run, &stage, 1, run->batch);
}

/* y = 2 (2 x + 5) + 7, kept = 2 x + 5. The numbers 5 and 7 are given one after
 * the other, in the same memory. */
static int32_t forward(mille_run *run) {
  float *first = (float *)run->arena;
  float *second = (float *)(run->arena + run->padded_rows * 64);
  int32_t *numbers = (int32_t *)(run->arena + run->padded_rows * 128);
  static const int32_t five = 5, seven = 7;
  int32_t code = launch(run, &twice, run->inputs[0], NULL, first);
  mille_token_numbers(run, &five, 1, numbers);
  if (!code)
    code = launch(run, &add, first, numbers, second);
  mille_keep(run, second, columns, run->batch, columns, 1, 0);
  if (!code)
    code = launch(run, &twice, second, NULL, first);
  mille_token_numbers(run, &seven, 1, numbers);
  float *last = nextKernels ? second : run->outputs[0];
  if (!code)
    code = launch(run, &add, first, numbers, last);
  for (int k = nextKernels; k > 0 && !code; --k) {
    float *from = last;
    last = k == 1 ? run->outputs[0] : from == first ? second : first;
    code = launch(run, &next, from, NULL, last);
  }
  return code;
}

static const mille_isa isas[] = {{"cuda", 0, &mille_cuda_backend}};
static const mille_tensor_info inputs[] = {
    {"x", MILLE_F32, 2, {-1, columns}, MILLE_REQUIRED, 0, 0}};
static const mille_tensor_info outputs[] = {
    {"y", MILLE_F32, 2, {-1, columns}, 0, 0, 0},
    {"kept", MILLE_F32, 2, {-1, columns}, 0, 0, 0}};

static mille_model model;
static void makeModel(void) {
  size_t bytes;
  const char *weights = fake_weights(&bytes);
  model = *fake_model();
  static const mille_entry entry = {.name = "forward",
                                    .forward = forward,
                                    .input_count = 1,
                                    .output_count = 2,
                                    .inputs = inputs,
                                    .outputs = outputs,
                                    .arena_bytes_per_row = 192};
  model.isa_count = 1;
  model.kernel_count = 3;
  model.isas = isas;
  model.entries = &entry;
  model.kernels = kernels;
  model.weights = weights;
}

/* ---- What tests begin and end with --------------------------------------- */

static mille_status run(mille_session *session, int64_t batch, float *y,
                        float *kept) {
  static float x[most * columns];
  for (int i = 0; i < batch * columns; ++i)
    x[i] = (float)(i + batch);
  memset(y, 0xff, most * columns * 4);
  memset(kept, 0xff, most * columns * 4);
  const void *given[] = {x};
  float *wanted[] = {y, kept};
  return mille_session_run(session, batch, 0, given, wanted);
}

static void check(mille_session *session, int64_t batch) {
  static float y[most * columns], kept[most * columns];
  EXPECT(run(session, batch, y, kept), MILLE_OK, mille_session_message(session),
         "");
  for (int i = 0; i < batch * columns; ++i) {
    const float x = (float)(i + batch);
    CHECK(kept[i] == 2 * x + 5 && y[i] == 2 * (2 * x + 5) + 7);
  }
}

static mille_session *open(mille_package *package) {
  mille_session *session;
  EXPECT(mille_session_create(package, most, 0, 1, &session), MILLE_OK,
         mille_package_message(package), "");
  return session;
}

static void closeBoth(mille_package *package, mille_session *session) {
  CHECK(mille_session_close(session) == MILLE_OK);
  CHECK(mille_package_close(package) == MILLE_OK);
  nothingLeft();
}

/* A session that cannot be made: its status, and a part of its sentence. */
static void refuse(const char *wish, mille_status status, const char *device,
                   const char *part) {
  mille_package *package = fake_open(&model);
  mille_session *session;
  const mille_size size = {"batch", most};
  fake(wish);
  EXPECT(mille_session_create_on(package, &size, 1, 1, device, &session),
         status, mille_package_message(package), part);
  fake("");
  CHECK(session == NULL);
  CHECK(mille_package_close(package) == MILLE_OK);
  nothingLeft();
}
