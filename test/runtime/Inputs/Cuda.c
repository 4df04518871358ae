/* Sessions on a device of CUDA without one: FakeCuda.cpp is the driver. What
 * generated code does for kernels is written out in C, of both forms: host code
 * that dispatches, and a table of arguments. */
#include "FakeCuda.h"
#include "FakeModel.h"
#include "runtime/Backends.h"
#include "runtime/mille.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { columns = 16, most = 60 };

static fake_cuda_counts *counts(void) {
  static fake_cuda_counts *(*function)(void);
  if (!function) {
    void *library = dlopen(getenv("MILLE_CUDA_LIBRARY"), RTLD_NOW);
    CHECK(library);
    *(void **)&function = dlsym(library, "fake_cuda");
    CHECK(function);
  }
  return function();
}

/* A kernel, as the device runs it (x, y, count): y = 2 x */
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

/* What generated code does for the kernels. */
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

static const mille_kernel_function functions[2][2] = {
    {twiceFunction, twiceFunction}, {addFunction, addFunction}};
static const mille_kernel
    twice =
        {"mille_k_twice", MILLE_PARTITION_ROWS, 2, 0, columns, 1, 0, 0, 0, 0,
         {1, 1},          functions[0]},
    add = {"mille_k_add", MILLE_PARTITION_ROWS, 3, 0, columns, 1, 0, 0, 0, 0,
           {1, 0, 1},     functions[1]};
static const mille_kernel *const kernels[] = {&twice, &add};

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
  if (!code)
    code = launch(run, &add, first, numbers, run->outputs[0]);
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
  model.kernel_count = 2;
  model.isas = isas;
  model.entries = &entry;
  model.kernels = kernels;
  model.weights = weights;
}

static mille_package *openPackage(void) {
  mille_package *package = NULL;
  char why[512] = "";
  EXPECT(mille_package_open(&model, NULL, NULL, &package, why, sizeof why),
         MILLE_OK, why, "");
  return package;
}

static void nothingLeft(void) {
  const fake_cuda_counts *now = counts();
  CHECK(!now->device_pieces && !now->pinned_pieces && !now->contexts);
  CHECK(!now->pushed && !now->modules && !now->streams && !now->events);
  CHECK(!now->graphs && !now->live_instances);
}

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

static void close(mille_package *package, mille_session *session) {
  CHECK(mille_session_close(session) == MILLE_OK);
  CHECK(mille_package_close(package) == MILLE_OK);
  nothingLeft();
}

/* The second run of a size makes a graph, later runs only launch it. */
static void graphs(void) {
  mille_package *package = openPackage();
  mille_session *session = open(package);
  check(session, 7);
  CHECK(counts()->instances == 0 && counts()->waits == 1);
  check(session, 7);
  CHECK(counts()->instances == 1 && counts()->graph_launches == 1);
  const int maps = counts()->maps;
  check(session, 7);
  CHECK(counts()->instances == 1 && counts()->graph_launches == 2);
  CHECK(counts()->maps == maps && counts()->waits == 3);
  CHECK(counts()->launches == 3 * 4);
  for (int round = 0; round < 2; ++round)
    for (int batch = 1; batch <= 11; ++batch) {
      check(session, batch);
      check(session, batch);
    }
  CHECK(counts()->live_instances == 8);
  close(package, session);
}

/* What is started is not waited for, is not disturbed, and ends once. */
static void startAndWait(void) {
  mille_package *package = openPackage();
  mille_session *sessions[2] = {open(package), open(package)};
  static float x[2][most * columns], y[2][most * columns], kept[most * columns];
  const mille_size size = {"batch", 4};
  const int waits = counts()->waits;
  CHECK(mille_session_wait(sessions[0]) == MILLE_INVALID_ARGUMENT);
  const void *given[2];
  float *wanted[2][2];
  for (int s = 0; s < 2; ++s) {
    for (int i = 0; i < 4 * columns; ++i)
      x[s][i] = (float)(i + s);
    given[s] = x[s];
    wanted[s][0] = y[s];
    wanted[s][1] = kept;
    CHECK(mille_session_start(sessions[s], 0, &size, 1, &given[s], wanted[s]) ==
          MILLE_OK);
  }
  CHECK(counts()->waits == waits);
  CHECK(mille_session_start(sessions[0], 0, &size, 1, &given[0], wanted[0]) ==
        MILLE_INVALID_ARGUMENT);
  CHECK(mille_session_run(sessions[0], 4, 0, &given[0], wanted[0]) ==
        MILLE_INVALID_ARGUMENT);
  CHECK(mille_session_wait(sessions[1]) == MILLE_OK);
  CHECK(mille_session_wait(sessions[0]) == MILLE_OK);
  CHECK(mille_session_wait(sessions[0]) == MILLE_INVALID_ARGUMENT);
  for (int s = 0; s < 2; ++s)
    for (int i = 0; i < 4 * columns; ++i)
      CHECK(y[s][i] == 2 * (2 * x[s][i] + 5) + 7);
  const mille_size none = {"batch", 0};
  CHECK(mille_session_start(sessions[0], 0, &none, 1, &given[0], wanted[0]) ==
        MILLE_INVALID_ARGUMENT);
  CHECK(mille_session_wait(sessions[0]) == MILLE_INVALID_ARGUMENT);
  check(sessions[0], 3);
  CHECK(mille_session_start(sessions[1], 0, &size, 1, &given[1], wanted[1]) ==
        MILLE_OK);
  CHECK(mille_session_close(sessions[1]) == MILLE_OK);
  close(package, sessions[0]);
}

/* An output that an application keeps on the device. */
static void outputOnDevice(void) {
  mille_package *package = openPackage();
  mille_session *session = open(package);
  static float x[most * columns], kept[most * columns];
  float *there = NULL;
  static int (*allocate)(uint64_t *, size_t);
  static int (*release)(uint64_t);
  void *library = dlopen(getenv("MILLE_CUDA_LIBRARY"), RTLD_NOW);
  *(void **)&allocate = dlsym(library, "cuMemAlloc_v2");
  *(void **)&release = dlsym(library, "cuMemFree_v2");
  ++counts()->pushed;
  CHECK(allocate((uint64_t *)&there, sizeof x) == 0);
  --counts()->pushed;
  for (int i = 0; i < 5 * columns; ++i)
    x[i] = (float)i;
  const void *given[] = {x};
  float *wanted[] = {there, kept};
  for (int round = 0; round < 3; ++round) {
    EXPECT(mille_session_run(session, 5, 0, given, wanted), MILLE_OK,
           mille_session_message(session), "");
    for (int i = 0; i < 5 * columns; ++i)
      CHECK(there[i] == 2 * (2 * x[i] + 5) + 7 && kept[i] == 2 * x[i] + 5);
    /* the host, which could write there too, did not */
    CHECK(counts()->device_copies == round + 1);
  }
  CHECK(release((uint64_t)there) == 0);
  close(package, session);
}

/* Sessions share the device's weights and modules. */
static void twoSessions(void) {
  mille_package *package = openPackage();
  mille_session *first = open(package), *second = open(package);
  CHECK(counts()->contexts == 1 && counts()->modules == 2);
  check(first, 5);
  check(second, most);
  check(first, 6);
  CHECK(mille_session_close(first) == MILLE_OK);
  check(second, 1);
  close(package, second);
}

static void profile(void) {
  mille_package *package = openPackage();
  mille_session *session = open(package);
  mille_profile of;
  CHECK(mille_session_profile(session, 1) == MILLE_OK);
  check(session, 9);
  check(session, 9);
  CHECK(mille_session_kernel(session, 1, &of) == MILLE_OK);
  CHECK(of.calls == 4 && of.nanoseconds == 4 * 8000000ull);
  CHECK(mille_session_profile(session, 0) == MILLE_OK);
  check(session, 9);
  close(package, session);
}

static void fake(const char *wish) { CHECK(setenv("FAKE_CUDA", wish, 1) == 0); }

static void refuse(const char *wish, mille_status status, const char *device,
                   const char *part) {
  mille_package *package = openPackage();
  mille_session *session;
  const mille_size size = {"batch", most};
  fake(wish);
  EXPECT(mille_session_create_on(package, &size, 1, 1, device, &session),
         status, mille_package_message(package), part);
  fake("");
  CHECK(session == NULL);
  close(package, session);
}

static void refusals(void) {
  refuse("version=11080", MILLE_NO_DEVICE, "",
         " is for CUDA 11.8 but 12.0 is needed; install a newer driver");
  refuse("devices=0", MILLE_NO_DEVICE, "",
         "no CUDA device: the driver knows none");
  refuse("devices=2", MILLE_NO_DEVICE, "cuda:2",
         "no CUDA device is called '2': there are 2, the first is Fake GPU A");
  refuse("devices=2", MILLE_NO_DEVICE, "cuda:H100",
         "no CUDA device is called 'H100'");
  refuse("memory=1000", MILLE_OUT_OF_MEMORY, "", "the weights need ");
  refuse("memory=30000", MILLE_OUT_OF_MEMORY, "",
         "the session's activations need ");
  refuse("memory=30000", MILLE_OUT_OF_MEMORY, "",
         " bytes of Fake GPU A, which has 30000 and ");
  refuse("capability=8.6", MILLE_NO_DEVICE, "",
         "Fake GPU A (compute capability 8.6) cannot load kernel "
         "mille_k_twice: CUDA_ERROR_NO_BINARY_FOR_GPU");
  refuse("shared=1000", MILLE_OUT_OF_MEMORY, "",
         "kernel add needs 102400 bytes of shared memory but a block has "
         "1000");
  items = 1024;
  refuse("", MILLE_NO_DEVICE, "",
         "kernel twice needs 1024 threads in a block but runs with at most "
         "512");
  items = 16;
  twiceModule = "no text of a kernel";
  twiceKind = MILLE_MODULE_PTX;
  refuse("", MILLE_NO_DEVICE, "", "CUDA_ERROR_INVALID_PTX: fatal: no .version");
  twiceModule = ".version 7.0 .entry other";
  refuse("", MILLE_NO_DEVICE, "", "twice: CUDA_ERROR_NOT_FOUND");
  twiceModule = &twiceCode;
  twiceKind = MILLE_MODULE_OPENCL_TEXT;
  refuse("", MILLE_INTERNAL, "",
         "a kernel's module is OpenCL C but cuda takes PTX");
  twiceKind = MILLE_MODULE_CUBIN;
}

/* Whatever piece of memory is refused: a sentence, and nothing stays. */
static void checkThree(mille_session *session) { check(session, 3); }
static void refusedMemory(void) {
  static const char *const forms[] = {
      "a device needs # bytes but memory was refused",
      "a module needs # bytes but memory was refused",
      "a session on a device needs # bytes but memory was refused",
      "the commands of runs need # bytes but memory was refused"};
  fake_refuse_each(&model, "", forms, 4, checkThree);
  nothingLeft();
}

/* Whatever call of the driver fails first: a sentence, which is given where it
 * is not of memory or a kernel, and nothing stays. */
static void failures(void) {
  static const char *const calls[][2] = {
      {"cuInit", "no CUDA device: the driver answers CUDA_ERROR"},
      {"cuDevicePrimaryCtxRetain", "Fake GPU A cannot be used: CUDA_ERROR"},
      {"cuMemHostAlloc", " pinned memory but the driver refused: CUDA_ERROR"},
      {"cuMemcpyHtoD_v2", ""},
      {"cuStreamCreate", "Fake GPU A gives no stream: CUDA_ERROR"},
      {"cuModuleLoadDataEx", ""},
      {"cuFuncSetAttribute", ""},
      {"cuDeviceGetCount", ""},
      {"cuMemAlloc_v2", ""}};
  for (unsigned f = 0; f < sizeof calls / sizeof *calls; ++f) {
    char wish[64];
    int failed = 1, nth = 1;
    for (; failed; ++nth) {
      snprintf(wish, sizeof wish, "fail=%s:%d:2", calls[f][0], nth);
      mille_package *package = openPackage();
      mille_session *session = NULL;
      const mille_size size = {"batch", most};
      fake(wish);
      failed = mille_session_create_on(package, &size, 1, 1, "", &session) !=
               MILLE_OK;
      fake("");
      const char *why = mille_package_message(package);
      if (failed)
        CHECK(strstr(why, "CUDA_ERROR_OUT_OF_MEMORY") &&
              (nth > 1 || strstr(why, calls[f][1])));
      close(package, session);
    }
    CHECK(nth > 2); /* the first call of it failed */
  }
}

/* A run that fails says so, and the next one is right. */
static void failingRuns(void) {
  static const char *const functions[] = {
      "cuLaunchKernel",          "cuGraphLaunch",
      "cuMemcpyHtoDAsync_v2",    "cuMemcpyDtoHAsync_v2",
      "cuMemcpy2DAsync_v2",      "cuStreamSynchronize",
      "cuStreamBeginCapture_v2", "cuGraphInstantiateWithFlags",
      "cuMemsetD8Async",         "cuTensorMapEncodeTiled"};
  static float y[most * columns], kept[most * columns];
  for (unsigned f = 0; f < sizeof functions / sizeof *functions; ++f) {
    mille_package *package = openPackage();
    mille_session *session = open(package);
    char wish[64];
    int failed = 1, nth = 1;
    for (; failed; ++nth) {
      check(session, 3);
      snprintf(wish, sizeof wish, "fail=%s:%d:719", functions[f], nth);
      fake(wish);
      failed = 0;
      /* the third is of a size that comes for the second time */
      for (int round = 0; round < 3 && !failed; ++round)
        failed = run(session, round ? 2 : 1 + nth, y, kept) != MILLE_OK;
      fake("");
      if (failed)
        CHECK(strstr(mille_session_message(session), "error 719"));
    }
    CHECK(nth > 2);
    check(session, 2);
    close(package, session);
  }
}

int main(void) {
  makeModel();
  graphs();
  startAndWait();
  outputOnDevice();
  twoSessions();
  profile();
  refusals();
  refusedMemory();
  failures();
  failingRuns();
  puts("sessions on a device of CUDA");
  return 0;
}
