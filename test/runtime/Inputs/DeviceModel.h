/* A model for a device, written by hand: three times a kernel that doubles.
 * What its kernel needs beside can be changed. */
#ifndef MILLE_TEST_DEVICE_MODEL_H
#define MILLE_TEST_DEVICE_MODEL_H
#include "FakeModel.h"
#include "runtime/Backends.h"

#include <string.h>

enum { columns = 16 };

static const char good[] =
    "__kernel void twice(__global const float *x, const ulong x_first,\n"
    "  __global float *y, const ulong y_first, const int count,\n"
    "  __local int *local_memory) {\n"
    "  int i = get_global_id(0);\n"
    "  if (i < count) y[y_first / 4 + i] = 2 * x[x_first / 4 + i];\n"
    "}\n";
static const char bad[] = "__kernel void twice(this is no kernel\n";
/* A module, and bytes after it that are none of its own. */
static struct {
  uint32_t kind;
  size_t size;
  char bytes[4096];
} module;
static void handOver(uint32_t kind, const char *text) {
  memset(module.bytes, '#', sizeof module.bytes);
  module.kind = kind;
  module.size = strlen(text);
  CHECK(module.size < sizeof module.bytes);
  memcpy(module.bytes, text, module.size);
}
static int64_t items = 16, localBytes = 0;
static int asked;
enum { mostEntries = 40 };
static int entryCount = 1; /* further ones are e1, e2, ... */
static char entryNames[mostEntries][8] = {"twice"};
static int32_t temporaryRows, givenNumbers = 1;

static int32_t kernelFunction(void **arguments) {
  mille_task *task = *(mille_task **)arguments[0];
  mille_buffer *x = arguments[1], *y = arguments[2];
  int32_t count = x->dimension[1].extent * columns;
  int32_t code =
      mille_device_module(task, module.kind, module.bytes, module.size);
  if (code)
    return code;
  ++asked;
  mille_dimension dimensions[] = {{0, columns, 1, 0},
                                  {0, temporaryRows, columns, 0}};
  mille_buffer temporary = {0, 0, NULL, 0, 2, 32, 1, 2, dimensions, 0};
  if (temporaryRows)
    code = mille_device_allocate(task, &temporary);
  const size_t sizes[] = {8, 8, 4, 0};
  void *const values[] = {x, y, &count};
  const int8_t isBuffer[] = {1, 1, 0};
  for (int e = 0; code == 0 && e < entryCount; ++e) {
    mille_dispatch dispatch = {entryNames[e], {(count + 15) / 16, 1, 1},
                               {items, 1, 1}, localBytes,
                               sizes,         values,
                               isBuffer};
    code = mille_device_run(task, &dispatch);
  }
  return code;
}

static const mille_kernel_function functions[] = {kernelFunction,
                                                  kernelFunction};
static const mille_kernel kernel = {
    "mille_k_twice", MILLE_PARTITION_ROWS, 2, 0, columns, 1, 0, 0, 0, 0, {1, 1},
    functions};
static const mille_kernel *const kernels[] = {&kernel};

static void describe(mille_buffer *buffer, mille_dimension *dimension,
                     void *memory, int64_t rows) {
  dimension[0] = (mille_dimension){0, columns, 1, 0};
  dimension[1] = (mille_dimension){0, (int32_t)rows, columns, 0};
  *buffer = (mille_buffer){0, 0, memory, 0, 2, 32, 1, 2, dimension, 0};
}

/* Three times twice: input -> arena -> arena -> output. */
static int32_t forward(mille_run *run) {
  float *first = (float *)run->arena;
  float *second = (float *)(run->arena + run->padded_rows * 64);
  void *places[] = {run->inputs[0], first, second, run->outputs[0]};
  for (int step = 0; step < 3; ++step) {
    mille_buffer buffers[2];
    mille_dimension dimensions[2][2];
    describe(&buffers[0], dimensions[0], places[step], run->batch);
    describe(&buffers[1], dimensions[1], places[step + 1], run->batch);
    mille_stage stage = {&kernel, buffers, NULL, 0, NULL, 0, 0, 0, 0};
    int32_t code = mille_launch(run, &stage, 1, run->batch);
    if (code)
      return code;
  }
  return 0;
}

/* The same; a number is given to the device, and the input kept too. */
static int32_t forwardKept(mille_run *run) {
  static const int32_t five[columns] = {5};
  mille_token_numbers(run, five, givenNumbers,
                      (int32_t *)(run->arena + run->padded_rows * 128));
  int32_t code = forward(run);
  mille_keep(run, (float *)run->arena, columns, run->batch, columns, 1, 0);
  return code;
}

static const mille_isa isas[] = {{"opencl", 0, &mille_opencl_backend}};
static const mille_tensor_info inputs[] = {
    {"x", MILLE_F32, 2, {-1, columns}, MILLE_REQUIRED, 0, 0}};
static const mille_tensor_info outputs[] = {
    {"y", MILLE_F32, 2, {-1, columns}, 0, 0, 0},
    {"kept", MILLE_F32, 2, {-1, columns}, 0, 0, 0}};

static const mille_entry keptEntry = {.name = "forward",
                                      .forward = forwardKept,
                                      .input_count = 1,
                                      .output_count = 2,
                                      .inputs = inputs,
                                      .outputs = outputs,
                                      .arena_bytes_per_row = 192};

static mille_model model;
static void makeModel(void) {
  size_t bytes;
  const char *weights = fake_weights(&bytes);
  model = *fake_model();
  static const mille_entry entry = {.name = "forward",
                                    .forward = forward,
                                    .input_count = 1,
                                    .output_count = 1,
                                    .inputs = inputs,
                                    .outputs = outputs,
                                    .arena_bytes_per_row = 128};
  model.isa_count = model.kernel_count = 1;
  model.isas = isas;
  model.entries = &entry;
  model.kernels = kernels;
  model.weights = weights;
}
#endif
