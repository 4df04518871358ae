/* Sessions on a device of OpenCL, with a kernel of our own: device WEIGHTS.
 * What generated code does for a kernel is written out in C. */
#include "DeviceModel.h"
#include "runtime/mille.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(mille_session *session, int64_t batch) {
  static float x[256 * columns], y[256 * columns];
  for (int i = 0; i < batch * columns; ++i)
    x[i] = (float)(i + 1);
  const void *given[] = {x};
  float *wanted[] = {y};
  EXPECT(mille_session_run(session, batch, 0, given, wanted), MILLE_OK,
         mille_session_message(session), "");
  for (int i = 0; i < batch * columns; ++i)
    CHECK(y[i] == 8 * x[i]);
}

static void runs(void) {
  mille_package *package = fake_open(&model);
  mille_session *first, *second;
  const mille_size most = {"batch", 200};
  CHECK(mille_session_create(package, 200, 0, 1, &first) == MILLE_OK);
  CHECK(mille_session_create_on(package, &most, 1, 1, "opencl:0", &second) ==
        MILLE_OK);
  CHECK(mille_package_close(package) == MILLE_OK);
  int before = asked;
  for (int64_t batch = 1; batch <= 200; batch += 37) {
    check(first, batch);
    check(second, batch);
  }
  CHECK(asked == before + 6 * 2 * 3);
  CHECK(mille_session_profile(first, 1) == MILLE_OK);
  check(first, 3);
  mille_profile profile;
  CHECK(mille_session_kernel(first, 0, &profile) == MILLE_OK);
  CHECK(profile.calls == 3);
  CHECK(mille_session_close(first) == MILLE_OK);
  mille_device device = {0};
  double f32 = 0, i32 = 0;
  CHECK(mille_session_measure_device(second, &device, &f32, &i32) == MILLE_OK);
  CHECK(device.name[0] && f32 > 0 && i32 > 0);
  CHECK(mille_session_measure_device(second, NULL, &f32, &i32) ==
        MILLE_INVALID_ARGUMENT);
  check(second, 7);
  CHECK(mille_session_close(second) == MILLE_OK);
}

/* The CPU's sessions have no device. */
static void noDevice(void) {
  size_t bytes;
  mille_model onCpu = *fake_model();
  onCpu.weights = fake_weights(&bytes);
  mille_package *package = NULL;
  mille_session *session;
  mille_device device;
  double f32, i32;
  char why[512] = "";
  EXPECT(mille_package_open(&onCpu, NULL, NULL, &package, why, sizeof why),
         MILLE_OK, why, "");
  CHECK(mille_session_create(package, 1, 4, 1, &session) == MILLE_OK);
  EXPECT(mille_session_measure_device(session, &device, &f32, &i32),
         MILLE_INVALID_ARGUMENT, mille_package_message(package),
         "a session on the CPU has no device to be measured");
  CHECK(mille_session_close(session) == MILLE_OK);
  CHECK(mille_package_close(package) == MILLE_OK);
}

/* The one file that stands for the kernel in an empty folder for caches. */
static int takeFromDisk(void) {
  char pattern[600];
  glob_t found;
  snprintf(pattern, sizeof pattern, "%s/mille/*.opencl",
           getenv("XDG_CACHE_HOME"));
  int count = glob(pattern, 0, NULL, &found) == 0 ? (int)found.gl_pathc : 0;
  for (int i = 0; i < count; ++i)
    CHECK(unlink(found.gl_pathv[i]) == 0);
  globfree(&found);
  return count;
}

/* Packages that are open at the same time share programs: what is compiled anew
 * is kept on disk anew. */
static void compiledOnce(void) {
  takeFromDisk();
  mille_package *packages[2] = {fake_open(&model), fake_open(&model)};
  mille_session *sessions[2];
  for (int i = 0; i < 2; ++i) {
    CHECK(mille_session_create(packages[i], 7, 0, 1, &sessions[i]) == MILLE_OK);
    CHECK(takeFromDisk() == (i == 0));
    CHECK(mille_package_close(packages[i]) == MILLE_OK);
  }
  CHECK(mille_session_close(sessions[0]) == MILLE_OK);
  check(sessions[1], 7);
  CHECK(mille_session_close(sessions[1]) == MILLE_OK);
  mille_package *last = fake_open(&model);
  CHECK(mille_session_create(last, 7, 0, 1, &sessions[0]) == MILLE_OK);
  CHECK(takeFromDisk() == 1);
  CHECK(mille_package_close(last) == MILLE_OK);
  CHECK(mille_session_close(sessions[0]) == MILLE_OK);
}

static void refuse(mille_status status, int64_t batch, const char *device,
                   const char *part) {
  mille_package *package = fake_open(&model);
  mille_session *session;
  const mille_size most = {"batch", batch};
  EXPECT(mille_session_create_on(package, &most, 1, 1, device, &session),
         status, mille_package_message(package), part);
  CHECK(session == NULL);
  CHECK(mille_package_close(package) == MILLE_OK);
}

static void listing(void) {
  mille_device device;
  size_t count = 0;
  char why[512] = "";
  EXPECT(mille_devices("opencl", &device, 1, &count, why, sizeof why), MILLE_OK,
         why, "");
  CHECK(count >= 1 && device.name[0]);
  for (int named = 0; named < 2; ++named) {
    EXPECT(mille_devices(named ? "metal" : NULL, &device, 1, &count, why,
                         sizeof why),
           MILLE_INVALID_ARGUMENT, why,
           named ? "back end is 'metal' but this runtime has: opencl cuda"
                 : "back end is '' but this runtime has: opencl cuda");
    CHECK(count == 0);
  }
}

static void refusals(void) {
  refuse(MILLE_NO_DEVICE, 1, "opencl:no such device",
         "no OpenCL device is called 'no such device': there are ");
  refuse(MILLE_NO_DEVICE, 1, "opencl:4711",
         "no OpenCL device is called '4711'");
  refuse(MILLE_INVALID_ARGUMENT, 1, "cpu",
         "device is 'cpu' but model fake was compiled for opencl");
  refuse(MILLE_OUT_OF_MEMORY, 1 << 26, "",
         "the session's activations need 171798");
  refuse(MILLE_OUT_OF_MEMORY, 1 << 26, "", " at most ");
  refuse(MILLE_INVALID_ARGUMENT, 1, "cuda:0",
         "device is 'cuda:0' but model fake was compiled for opencl");
  handOver(MILLE_MODULE_OPENCL_TEXT, bad);
  refuse(MILLE_NO_DEVICE, 1, "", " cannot compile a kernel: ");
  refuse(MILLE_NO_DEVICE, 1, "", "error");
  handOver(MILLE_MODULE_PTX, good);
  refuse(MILLE_INTERNAL, 1, "",
         "a kernel's module is PTX but opencl takes OpenCL C");
  handOver(77, good);
  refuse(MILLE_INTERNAL, 1, "",
         "a kernel's module is of kind 77 but opencl takes OpenCL C");
  handOver(MILLE_MODULE_OPENCL_TEXT, good);
  items = 1 << 20;
  refuse(MILLE_NO_DEVICE, 1, "", " has work-groups of up to ");
  refuse(MILLE_NO_DEVICE, 1, "", " items but a kernel needs 1048576");
  items = 16;
  localBytes = (int64_t)1 << 40;
  refuse(MILLE_OUT_OF_MEMORY, 1, "",
         " bytes of local memory but a kernel needs 1099511627776");
  localBytes = 0;
  /* More kernels than a row class of kernels has. */
  char text[4096];
  size_t used = (size_t)snprintf(text, sizeof text, "%s", good);
  for (entryCount = 1; entryCount < mostEntries; ++entryCount) {
    char *name = entryNames[entryCount];
    snprintf(name, sizeof *entryNames, "e%d", entryCount);
    used += (size_t)snprintf(text + used, sizeof text - used,
                             "__kernel void %s() {}\n", name);
  }
  handOver(MILLE_MODULE_OPENCL_TEXT, text);
  refuse(MILLE_INTERNAL, 1, "", "a program has more than 16 kernels");
  entryCount = 1;
  handOver(MILLE_MODULE_OPENCL_TEXT, good);
}

/* A run that needs more than the one that planned it says so, and the next one
 * is right. */
static void unplanned(void) {
  static float x[40 * columns], y[40 * columns], kept[40 * columns];
  const void *given[] = {x};
  float *wanted[] = {y, kept};
  model.entries = &keptEntry;
  temporaryRows = 1;
  mille_package *package = fake_open(&model);
  mille_session *session;
  CHECK(mille_session_create(package, 40, 0, 1, &session) == MILLE_OK);
  temporaryRows = 1 << 20;
  EXPECT(
      mille_session_run(session, 40, 0, given, wanted), MILLE_INTERNAL,
      mille_session_message(session),
      "a kernel needs 67108864 bytes of device memory but planned with 1024");
  temporaryRows = 0;
  givenNumbers = columns;
  EXPECT(mille_session_run(session, 40, 0, given, wanted), MILLE_INTERNAL,
         mille_session_message(session),
         "a run gives 3072 bytes to its device but planned with 1024");
  givenNumbers = 1;
  x[3] = 3;
  EXPECT(mille_session_run(session, 40, 0, given, wanted), MILLE_OK,
         mille_session_message(session), "");
  CHECK(y[3] == 24 && kept[3] == 6);
  CHECK(mille_session_close(session) == MILLE_OK);
  CHECK(mille_package_close(package) == MILLE_OK);
  makeModel();
}

/* Whatever piece of memory is refused: a sentence, and the next one works. */
static void checkThree(mille_session *session) { check(session, 3); }
static void refusedMemory(void) {
  static const char *const forms[] = {
      "a device needs # bytes but memory was refused",
      "a device's programs need # bytes but memory was refused",
      "a list of # buffers of weights needs # bytes but memory was refused",
      "a session on a device needs # bytes but memory was refused",
      "what a device is given in a run needs # bytes but memory was refused"};
  fake_refuse_each(&model, NULL, forms, 5, checkThree);
}

/* A device that says nothing: no log, no answer to who it is, no time. */
static void silent(void) {
  CHECK(setenv("FAIL_OPENCL", "clBuildProgram:1", 1) == 0);
  refuse(MILLE_NO_DEVICE, 1, "", " cannot compile a kernel: it gives no log");
  CHECK(setenv("FAIL_OPENCL", "clGetDeviceIDs:1", 1) == 0);
  refuse(MILLE_NO_DEVICE, 1, "", "no OpenCL device: the library knows 1 ");
  CHECK(unsetenv("FAIL_OPENCL") == 0);
  mille_package *package = fake_open(&model);
  mille_session *session;
  mille_device device;
  double f32, i32;
  CHECK(mille_session_create(package, 3, 0, 1, &session) == MILLE_OK);
  CHECK(setenv("FAIL_OPENCL", "clWaitForEvents:1", 1) == 0);
  EXPECT(mille_session_measure_device(session, &device, &f32, &i32),
         MILLE_NO_DEVICE, mille_package_message(package),
         " cannot be measured: ");
  CHECK(unsetenv("FAIL_OPENCL") == 0);
  check(session, 3);
  CHECK(mille_session_close(session) == MILLE_OK);
  CHECK(mille_package_close(package) == MILLE_OK);
  takeFromDisk();
}

/* Whatever call of the library fails: a sentence with what it was for, and the
 * next run or session works. */
static void failingCalls(void) {
  static const struct {
    const char *call, *sentence;
    int inRun;
  } calls[] = {/* the first: then it is kept on disk */
               {"clCreateProgramWithSource", " takes no kernel: ", 0},
               {"clCreateContext", " cannot be used: ", 0},
               {"clCreateCommandQueue", "the weights need ", 0},
               {"clCreateCommandQueue", " gives no queue: ", 0},
               {"clCreateBuffer", "the weights need ", 0},
               {"clCreateBuffer", "the session's activations need ", 0},
               {"clEnqueueWriteBuffer", ": writing inputs: ", 1},
               {"clEnqueueWriteBuffer", ": writing activations: ", 1},
               {"clEnqueueReadBufferRect", ": keeping activations: ", 1},
               {"clEnqueueReadBuffer", ": reading outputs: ", 1},
               {"clFinish", ": reading outputs: ", 1}};
  static float x[3 * columns], y[3 * columns], kept[3 * columns];
  const void *given[] = {x};
  float *wanted[] = {y, kept};
  model.entries = &keptEntry;
  for (unsigned c = 0; c < sizeof calls / sizeof *calls; ++c) {
    const int nth = c && strcmp(calls[c].call, calls[c - 1].call) == 0 ? 2 : 1;
    char wish[64];
    snprintf(wish, sizeof wish, "%s:%d", calls[c].call, nth);
    mille_package *package = fake_open(&model);
    mille_session *session = NULL;
    if (!calls[c].inRun)
      CHECK(setenv("FAIL_OPENCL", wish, 1) == 0);
    mille_status status = mille_session_create(package, 3, 0, 1, &session);
    const char *why = mille_package_message(package);
    if (calls[c].inRun) {
      EXPECT(status, MILLE_OK, why, "");
      CHECK(setenv("FAIL_OPENCL", wish, 1) == 0);
      status = mille_session_run(session, 3, 0, given, wanted);
      why = mille_session_message(session);
    }
    CHECK(unsetenv("FAIL_OPENCL") == 0);
    EXPECT(status, status == MILLE_NO_DEVICE ? status : MILLE_OUT_OF_MEMORY,
           why, calls[c].sentence);
    if (!session)
      EXPECT(mille_session_create(package, 3, 0, 1, &session), MILLE_OK,
             mille_package_message(package), "");
    for (int i = 0; i < 3 * columns; ++i)
      x[i] = (float)(i + c);
    EXPECT(mille_session_run(session, 3, 0, given, wanted), MILLE_OK,
           mille_session_message(session), "");
    for (int i = 0; i < 3 * columns; ++i)
      CHECK(y[i] == 8 * x[i] && kept[i] == 2 * x[i]);
    CHECK(mille_session_close(session) == MILLE_OK);
    CHECK(mille_package_close(package) == MILLE_OK);
  }
  makeModel();
}

/* Weights are cut into buffers where tensors begin. The number of a layer's
 * body, though it is 64, is no such place: then the one tensor is larger than a
 * buffer. */
static void bodyNumbers(void) {
  size_t bytes;
  char *weights = (char *)fake_weights(&bytes);
  const mille_weights_header *header = (const mille_weights_header *)weights;
  uint64_t *table = (uint64_t *)(weights + header->table_offset);
  const uint64_t end = bytes - header->data_offset,
                 before[] = {table[0], table[1]};
  static uint64_t read[65]; /* body 64 is the only one */
  read[64] = end;
  const mille_stack_info stack = {0, 2, 1, 65, read};
  char most[32], part[64];
  table[0] = 64;
  table[1] = 0;
  snprintf(most, sizeof most, "%llu", (unsigned long long)end - 64);
  snprintf(part, sizeof part, "one of the weights needs %llu bytes",
           (unsigned long long)end);
  CHECK(setenv("MILLE_OPENCL_BUFFER", most, 1) == 0);
  model.stack_count = 1;
  model.stacks = &stack;
  model.place_count = 0;
  model.table_hash = fake_table_hash(weights);
  refuse(MILLE_OUT_OF_MEMORY, 1, "", part);
  /* As places they would be tensors one over the other. */
  const uint64_t over[] = {end - 64, end};
  model.stack_count = 0;
  model.place_count = 2;
  model.place_bytes = over;
  refuse(MILLE_BAD_WEIGHTS, 1, "",
         "a tensor begins at 64 of the weights, where another one has not "
         "ended");
  const uint64_t apart[] = {end - 64, 64};
  model.place_bytes = apart;
  mille_package *package = fake_open(&model);
  mille_session *session;
  EXPECT(mille_session_create(package, 1, 0, 1, &session), MILLE_OK,
         mille_package_message(package), "");
  check(session, 1);
  CHECK(mille_session_close(session) == MILLE_OK);
  CHECK(mille_package_close(package) == MILLE_OK);
  CHECK(unsetenv("MILLE_OPENCL_BUFFER") == 0);
  memcpy(table, before, sizeof before);
  makeModel();
}

static long residentPages(void) {
  long size, resident;
  FILE *file = fopen("/proc/self/statm", "r");
  CHECK(file && fscanf(file, "%ld %ld", &size, &resident) == 2);
  fclose(file);
  return resident;
}

/* Each round has 3 MB of its own on the device; none of it may stay. */
static void manyTimes(void) {
  long before = 0;
  for (int round = 0; round < 1000; ++round) {
    if (round == 100)
      before = residentPages();
    mille_package *package = fake_open(&model);
    mille_session *session;
    CHECK(mille_session_create(package, 10000, 0, 1, &session) == MILLE_OK);
    check(session, 2);
    CHECK(mille_session_close(session) == MILLE_OK);
    CHECK(mille_package_close(package) == MILLE_OK);
  }
  long grown = (residentPages() - before) * sysconf(_SC_PAGESIZE);
  if (grown > 64 << 20)
    printf("900 rounds kept %ld bytes\n", grown);
  CHECK(grown <= 64 << 20);
}

int main(int count, char **arguments) {
  makeModel();
  handOver(MILLE_MODULE_OPENCL_TEXT, good);
  if (count == 2 && strcmp(arguments[1], "times") == 0) {
    manyTimes();
    printf("1000 times without growth\n");
    return 0;
  }
  if (count == 2 && strcmp(arguments[1], "once") == 0) {
    compiledOnce();
    printf("compiled once\n");
    return 0;
  }
  if (count == 2 && strcmp(arguments[1], "failing") == 0) {
    takeFromDisk();
    silent();
    failingCalls();
    printf("each call failed once\n");
    return 0;
  }
  runs();
  noDevice();
  listing();
  refusals();
  bodyNumbers();
  unplanned();
  refusedMemory();
  printf("sessions on a device\n");
  return 0;
}
