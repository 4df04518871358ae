/* Sessions on a device of CUDA without one: FakeCuda.cpp is the driver. */
#include "CudaModel.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* The second run of a size makes a graph, later runs only launch it. */
static void graphs(void) {
  mille_package *package = fake_open(&model);
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
  closeBoth(package, session);
}

/* What is started is not waited for, is not disturbed, and ends once. */
static void startAndWait(void) {
  mille_package *package = fake_open(&model);
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
  closeBoth(package, sessions[0]);
}

/* Outputs that an application keeps on the device, or in pinned memory of its
 * own: they are copied straight there. One in other memory comes by way of the
 * session's. */
static void outputsElsewhere(const char *allocator, const char *releaser,
                             int onDevice) {
  mille_package *package = fake_open(&model);
  mille_session *session = open(package);
  static float x[most * columns], kept[most * columns];
  static int (*allocate)(float **, size_t, unsigned);
  static int (*release)(float *);
  float *there = NULL;
  void *library = dlopen(getenv("MILLE_CUDA_LIBRARY"), RTLD_NOW);
  *(void **)&allocate = dlsym(library, allocator);
  *(void **)&release = dlsym(library, releaser);
  ++counts()->pushed;
  CHECK(allocate(&there, 2 * sizeof x, 0) == 0);
  --counts()->pushed;
  for (int i = 0; i < 5 * columns; ++i)
    x[i] = (float)i;
  const void *given[] = {x};
  const int before = counts()->device_copies;
  for (int round = 0; round < 4; ++round) {
    float *wanted[] = {there, round % 2 ? kept : there + most * columns};
    EXPECT(mille_session_run(session, 5, 0, given, wanted), MILLE_OK,
           mille_session_message(session), "");
    for (int i = 0; i < 5 * columns; ++i)
      CHECK(wanted[0][i] == 2 * (2 * x[i] + 5) + 7 &&
            wanted[1][i] == 2 * x[i] + 5);
    /* the host, which could write there too, did not */
    if (onDevice)
      CHECK(counts()->device_copies == before + (3 * round + 4) / 2);
    else
      CHECK((counts()->read_to == wanted[1]) == (round % 2 == 0));
  }
  float *wanted[] = {kept, kept};
  given[0] = there;
  if (onDevice)
    EXPECT(mille_session_run(session, 5, 0, given, wanted),
           MILLE_INVALID_ARGUMENT, mille_session_message(session),
           " is in a device's memory but the host reads inputs: give a copy "
           "in the host's");
  CHECK(release(there) == 0);
  closeBoth(package, session);
}

/* Outputs in memory of the session's are copied straight there, and it is
 * given back with the session. None is more than some 64 MB. */
static void outputsInSession(void) {
  mille_package *package = fake_open(&model);
  mille_session *session = open(package);
  static float x[most * columns], kept[most * columns];
  void *there, *none;
  CHECK(mille_session_output_memory(session, sizeof x, &there) == MILLE_OK);
  CHECK(there && counts()->pinned_pieces == 2);
  CHECK(mille_session_output_memory(session, 65 << 20, &none) == MILLE_OK);
  CHECK(!none);
  fake("fail=cuMemHostAlloc:1:2");
  CHECK(mille_session_output_memory(session, 64, &none) == MILLE_OK && !none);
  fake("");
  CHECK(mille_session_output_memory(session, 64, NULL) ==
        MILLE_INVALID_ARGUMENT);
  for (int i = 0; i < 5 * columns; ++i)
    x[i] = (float)i;
  const void *given[] = {x};
  float *wanted[] = {kept, there};
  for (int round = 0; round < 3; ++round) {
    memset(there, 0xff, sizeof x);
    EXPECT(mille_session_run(session, 5, 0, given, wanted), MILLE_OK,
           mille_session_message(session), "");
    CHECK(counts()->read_to == there);
    for (int i = 0; i < 5 * columns; ++i)
      CHECK(kept[i] == 2 * (2 * x[i] + 5) + 7 && wanted[1][i] == 2 * x[i] + 5);
  }
  closeBoth(package, session);
}

/* Sessions share the device's weights and modules. */
static void twoSessions(void) {
  mille_package *package = fake_open(&model);
  mille_session *first = open(package), *second = open(package);
  CHECK(counts()->contexts == 1 && counts()->modules == 2);
  check(first, 5);
  check(second, most);
  check(first, 6);
  CHECK(mille_session_close(first) == MILLE_OK);
  check(second, 1);
  closeBoth(package, second);
}

/* One package on two devices: each has its own weights and modules. */
static void twoDevices(void) {
  fake("devices=2");
  mille_package *package = fake_open(&model);
  mille_session *sessions[2];
  const mille_size size = {"batch", most};
  for (int d = 0; d < 2; ++d)
    EXPECT(mille_session_create_on(package, &size, 1, 1, d ? "cuda:1" : "cuda",
                                   &sessions[d]),
           MILLE_OK, mille_package_message(package), "");
  CHECK(counts()->contexts == 2 && counts()->modules == 4);
  for (int round = 0; round < 3; ++round)
    for (int d = 0; d < 2; ++d)
      check(sessions[d], 5 + round);
  CHECK(mille_session_close(sessions[0]) == MILLE_OK);
  check(sessions[1], 2);
  closeBoth(package, sessions[1]);
  fake("");
}

/* A run that is cancelled on its way says so, and the session goes on. */
static void cancelled(void) {
  mille_package *package = fake_open(&model);
  mille_session *session = open(package);
  static float x[most * columns], y[most * columns], kept[most * columns];
  const mille_size size = {"batch", 4};
  const void *given[] = {x};
  float *wanted[] = {y, kept};
  for (int round = 0; round < 4; ++round) { /* the third is a graph */
    CHECK(mille_session_start(session, 0, &size, 1, given, wanted) == MILLE_OK);
    CHECK(mille_session_cancel(session) == MILLE_OK);
    CHECK(mille_session_wait(session) == MILLE_CANCELLED);
    check(session, 4);
  }
  closeBoth(package, session);
}

/* In a child of fork there is no driver: a status and a sentence, and the
 * parent's session goes on. */
static void forked(void) {
  mille_package *package = fake_open(&model);
  mille_session *session = open(package);
  check(session, 3);
  fflush(NULL);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    static float y[most * columns], kept[most * columns];
    EXPECT(run(session, 3, y, kept), MILLE_NO_DEVICE,
           mille_session_message(session), "error 3");
    mille_session *other = NULL;
    CHECK(mille_session_create(package, most, 0, 1, &other) == MILLE_NO_DEVICE);
    _exit(0);
  }
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  check(session, 3);
  closeBoth(package, session);
}

static void profile(void) {
  mille_package *package = fake_open(&model);
  mille_session *session = open(package);
  mille_profile of;
  CHECK(mille_session_profile(session, 1) == MILLE_OK);
  check(session, 9);
  check(session, 9);
  CHECK(mille_session_kernel(session, 1, &of) == MILLE_OK);
  CHECK(of.calls == 4 && of.nanoseconds == 4 * 8000000ull);
  static float y[most * columns], kept[most * columns];
  static const char *const wishes[] = {"fail=cuEventElapsedTime:1:719",
                                       "fail=cuEventRecord:2:719",
                                       "fail=cuEventSynchronize:1:719"};
  for (int w = 0; w < 3; ++w) {
    fake(wishes[w]);
    EXPECT(run(session, 9, y, kept), MILLE_NO_DEVICE,
           mille_session_message(session), "Fake GPU A: a profile: error 719");
  }
  fake("");
  CHECK(mille_session_profile(session, 0) == MILLE_OK);
  check(session, 9);
  mille_device device;
  double f32, i32;
  fake("fail=cuMemAlloc_v2:1:2");
  EXPECT(mille_session_measure_device(session, &device, &f32, &i32),
         MILLE_NO_DEVICE, mille_package_message(package),
         "Fake GPU A cannot be measured: CUDA_ERROR_OUT_OF_MEMORY");
  fake("");
  closeBoth(package, session);
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
  addKernel.cubin = "a cubin that was damaged";
  refuse("", MILLE_NO_DEVICE, "", "cannot load kernel mille_k_add");
  addKernel.cubin = &addCode;
  items = 1024;
  refuse("", MILLE_NO_DEVICE, "",
         "kernel twice needs 1024 threads in a block but runs with at most "
         "512");
  items = 16;
  twiceModule = "no text of a kernel";
  twiceKind = MILLE_MODULE_PTX;
  refuse("", MILLE_NO_DEVICE, "", "CUDA_ERROR_INVALID_PTX: fatal: no .version");
  twiceModule = "no text of a kernel\n.target sm_90a\n";
  refuse("", MILLE_NO_DEVICE, "",
         " cannot load kernel mille_k_twice, which is for sm_90a: "
         "CUDA_ERROR_INVALID_PTX");
  twiceModule = ".version 7.0 .entry other";
  refuse("", MILLE_NO_DEVICE, "", "twice: CUDA_ERROR_NOT_FOUND");
  twiceModule = &twiceCode;
  twiceKind = MILLE_MODULE_OPENCL_TEXT;
  refuse("", MILLE_INTERNAL, "",
         "a kernel's module is OpenCL C but cuda takes PTX");
  twiceKind = MILLE_MODULE_CUBIN;
}

/* Whatever call of the driver fails first: a sentence, and nothing stays. */
static void failures(void) {
  static const char *const functions[] = {"cuInit",
                                          "cuDeviceGetCount",
                                          "cuDevicePrimaryCtxRetain",
                                          "cuMemAlloc_v2",
                                          "cuMemHostAlloc",
                                          "cuMemcpyHtoD_v2",
                                          "cuStreamCreate",
                                          "cuModuleLoadDataEx",
                                          "cuFuncSetAttribute",
                                          "cuDeviceGet",
                                          "cuCtxPushCurrent_v2",
                                          "cuModuleGetFunction",
                                          "cuFuncGetAttribute"};
  refuse("fail=cuInit:1:999", MILLE_NO_DEVICE, "",
         "no CUDA device: the driver answers error 999");
  refuse("fail=cuStreamCreate:1:999", MILLE_NO_DEVICE, "",
         "Fake GPU A gives no stream: error 999");
  refuse("fail=cuMemHostAlloc:1:2", MILLE_OUT_OF_MEMORY, "",
         " bytes of pinned memory but the driver refused: "
         "CUDA_ERROR_OUT_OF_MEMORY");
  for (unsigned f = 0; f < sizeof functions / sizeof *functions; ++f) {
    char wish[64];
    int failed = 1, nth = 1;
    for (; failed; ++nth) {
      snprintf(wish, sizeof wish, "fail=%s:%d:2", functions[f], nth);
      mille_package *package = fake_open(&model);
      mille_session *session = NULL;
      const mille_size size = {"batch", most};
      fake(wish);
      failed = mille_session_create_on(package, &size, 1, 1, "", &session) !=
               MILLE_OK;
      fake("");
      /* Without a context (201) the call that wants one says so. */
      const char *why = mille_package_message(package);
      if (failed)
        CHECK(strstr(why, "CUDA_ERROR_OUT_OF_MEMORY") ||
              strstr(why, "error 201"));
      else
        CHECK(mille_session_close(session) == MILLE_OK);
      CHECK(mille_package_close(package) == MILLE_OK);
      nothingLeft();
    }
    CHECK(nth > 2); /* the first call of it failed */
  }
}

/* A device that says less of itself is used all the same; memory that the
 * driver does not know is the application's. */
static void silent(void) {
  static const char *const functions[] = {
      "cuDeviceGetName", "cuDeviceTotalMem_v2", "cuPointerGetAttributes"};
  for (unsigned f = 0; f < sizeof functions / sizeof *functions; ++f) {
    char wish[64];
    snprintf(wish, sizeof wish, "fail=%s:1:999", functions[f]);
    fake(wish);
    mille_package *package = fake_open(&model);
    mille_session *session = open(package);
    check(session, 3);
    fake("");
    closeBoth(package, session);
    nothingLeft();
  }
}

/* Launches that are apart have a block for each of the 4 units where tiles are
 * more than half as many, and every second one, the second of a run first, has
 * more than half of a unit's memory; not where there are more tiles than
 * units. */
static void apart(void) {
  static const struct {
    uint32_t tiles, blocks;
    int wide;
  } sizes[] = {{1, 1, 1}, {2, 2, 1}, {3, 4, 1}, {4, 4, 1}, {5, 5, 0}};
  nextKernel.apart = nextIsApart = 1;
  nextKernel.then = &behindKernel; /* each launch is two */
  nextKernels = 3;
  for (unsigned n = 0; n < sizeof sizes / sizeof *sizes; ++n) {
    nextKernel.tiles[0].times = sizes[n].tiles;
    nextBlocks = sizes[n].blocks;
    mille_package *package = fake_open(&model);
    mille_session *session = open(package);
    for (int run = 0; run < 3; ++run) {
      const int before = counts()->wide, behind = behindRuns;
      check(session, 7);
      CHECK(behindRuns == behind + nextKernels);
      CHECK(counts()->wide == before + sizes[n].wide);
    }
    CHECK(counts()->live_instances == 1); /* equal runs */
    closeBoth(package, session);
  }
  nextKernel.apart = nextIsApart = 0;
  nextKernel.then = NULL;
  nextKernel.tiles[0].times = nextBlocks = 1;
}

/* A kernel that waits itself for those before it overlaps with them, also as a
 * part of a graph; but not with copies and fills, nor on an old driver, nor
 * where its work is not done at a time: the device has 4 units. */
static void overlapping(void) {
  for (int kernels = 1; kernels <= 3; ++kernels) {
    nextKernels = kernels;
    mille_package *package = fake_open(&model);
    mille_session *session = open(package);
    const int before = counts()->overlapping;
    check(session, 7);
    CHECK(counts()->overlapping == before + kernels);
    check(session, 7); /* captured */
    check(session, 7); /* launched as a graph */
    CHECK(counts()->overlapping == before + 2 * kernels);
    closeBoth(package, session);
  }
  static const struct {
    uint32_t perUnit, tiles, blocks;
    int overlaps;
  } sizes[] = {{0, 32, 32, 1}, {0, 33, 33, 0}, {2, 8, 8, 1}, {2, 9, 8, 0}};
  for (unsigned n = 0; n < sizeof sizes / sizeof *sizes; ++n) {
    nextKernel.blocks_per_unit = sizes[n].perUnit;
    nextKernel.tiles[0].times = sizes[n].tiles;
    nextBlocks = sizes[n].blocks;
    nextKernels = 1;
    mille_package *package = fake_open(&model);
    mille_session *session = open(package);
    const int before = counts()->overlapping;
    check(session, 7);
    CHECK(counts()->overlapping == before + sizes[n].overlaps);
    closeBoth(package, session);
  }
  nextKernel.blocks_per_unit = 0;
  nextKernel.tiles[0].times = nextBlocks = 1;
  apart();
  nextKernels = 3;
  fake("version=12020");
  mille_package *package = fake_open(&model);
  mille_session *session = open(package);
  const int before = counts()->overlapping;
  check(session, 7);
  CHECK(counts()->overlapping == before);
  closeBoth(package, session);
  fake("");
  nextKernels = 0;
}

/* A run that fails says so, and the next one is right. */
static void failingRuns(void) {
  static const char *const functions[] = {
      "cuLaunchKernel",          "cuGraphLaunch",
      "cuMemcpyHtoDAsync_v2",    "cuMemcpyDtoHAsync_v2",
      "cuMemcpy2DAsync_v2",      "cuStreamSynchronize",
      "cuStreamBeginCapture_v2", "cuGraphInstantiateWithFlags",
      "cuMemsetD8Async",         "cuTensorMapEncodeTiled",
      "cuStreamEndCapture"};
  static float y[most * columns], kept[most * columns];
  for (unsigned f = 0; f < sizeof functions / sizeof *functions; ++f) {
    mille_package *package = fake_open(&model);
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
    closeBoth(package, session);
  }
}

int main(void) {
  makeModel();
  graphs();
  overlapping();
  startAndWait();
  outputsElsewhere("cuMemAlloc_v2", "cuMemFree_v2", 1);
  outputsElsewhere("cuMemHostAlloc", "cuMemFreeHost", 0);
  outputsInSession();
  twoSessions();
  twoDevices();
  cancelled();
  forked();
  profile();
  refusals();
  failures();
  silent();
  failingRuns();
  puts("sessions on a device of CUDA");
  return 0;
}
