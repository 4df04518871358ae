// An opened CUDA device, and a session's part of it. Private to this folder.
#pragma once
#include "runtime/Backend.h"
#include "runtime/DeviceRegions.h"
#include "runtime/cuda/Devices.h"
#include "runtime/cuda/Graphs.h"
#include "runtime/cuda/StepTexts.h"

namespace mille::cuda {

// A kernel's code on the device. `code` tells it apart: constant bytes of the
// model's object.
struct Loaded {
  const void *code;
  CUmodule module;
  Loaded *next;
};

struct Device : mille::Device {
  Library cuda;
  Found found = {};
  CUcontext context = nullptr; // the device's primary one
  CUdeviceptr weights = 0;     // the weights' data, whole
  uint64_t weightsBytes = 0;
  Loaded *loaded = nullptr; // guarded by the package's deviceLock

  const mille_device &info() const { return found.info; }
};

// Makes the device's context current in this thread while it lives.
class Current {
public:
  explicit Current(const Device &device) : device(device) {
    error = device.cuda.cuCtxPushCurrent(device.context);
  }
  ~Current() {
    CUcontext popped;
    if (error == CUDA_SUCCESS)
      device.cuda.cuCtxPopCurrent(&popped);
  }
  CUresult error;

private:
  const Device &device;
};

// A kernel of a loaded module, found by the variant that calls it.
struct Entry {
  const char *name;
  uint32_t variant;
  Entry *next; // of the same variant
  CUfunction function;
  CUmodule module;
};

// The last tensor map that the n-th place of a run needed.
struct TensorKey {
  CUdeviceptr address;
  uint64_t extent[MILLE_MAX_RANK], stride[MILLE_MAX_RANK];
  uint32_t box[MILLE_MAX_RANK], rank;
  int32_t type, reserved;
};
struct KnownTensor {
  TensorKey key;
  CUtensorMap map;
};

// Outputs of up to so many bytes come through pinned memory, which is faster;
// larger ones would take too much of it.
constexpr uint64_t pinnedOutputs = 64 << 20;

// Begins a piece of pinned memory that an application has of a session.
struct alignas(16) Pinned {
  Pinned *next;
};

struct Part : DevicePart {
  CUstream stream = nullptr;
  CUdeviceptr memory = 0; // regions | tables | states | temporaries
  DeviceRegions regions;
  Commands commands;
  Graphs graphs;
  char *pinned = nullptr; // inputs | given | outputs, in the host's memory
  uint64_t inputBytes = 0, outputBytes = 0; // the most of a run
  Pinned *lent = nullptr;
  Entry *entries = nullptr, **ofVariant = nullptr;
  uint32_t entryCount = 0, entryRoom = 0;
  CUmodule module = nullptr; // of the kernel that is called while planning
  KnownTensor *tensors = nullptr;
  uint32_t tensorCount = 0, tensorMost = 0; // of this run; of the longest
  CUfunction steps[stepCount] = {};
  Remember remembered = {};   // by the last launch of that step
  uint32_t launchesApart = 0; // of this run, of kernels that are `apart`
  bool flushed = false; // commands of this run were executed before its end
  RunKey key = {};      // of this run
  // An earlier run's graph, in place of this run's commands; null: none.
  Graphs::Slot *replayed = nullptr;

  Device &on() const { return *static_cast<Device *>(device); }
  const Library &cuda() const { return on().cuda; }
};

inline Part &partOf(const mille_session &session) {
  return *static_cast<Part *>(session.part);
}

// Fails the run, or the planning, and reports the driver's error.
int32_t fail(mille_session &session, const char *what, CUresult error);
int32_t failWith(mille_session &session, mille_status status,
                 const char *format, ...) __attribute__((format(printf, 3, 4)));
// The sentence that `bytes` bytes do not fit. `what` begins it: "the weights
// need".
mille_status refuseMemory(const Device &device, const char *what,
                          uint64_t bytes, CUresult error, Message &message);

// The module of a kernel's code, loaded at the first call. ptx ends with a NUL
// and may be null, as may be the cubin. Called while planning.
mille_status moduleOf(mille_package &package, Device &device, const void *cubin,
                      const char *ptx, const char *name, CUmodule &module);
void unloadModules(mille_package &package, Device &device);
// Finds a function and lets it have its shared memory; fails, with both
// numbers, where the device has less.
int32_t functionOf(mille_session &session, CUmodule module, const char *name,
                   uint64_t threads, uint64_t sharedBytes,
                   CUfunction &function);
// One division of L1 and shared memory for all kernels that overlap: a unit
// changes it only while nothing runs on it.
int32_t setCarveout(mille_session &session, const char *name,
                    CUfunction function);
Entry *entryOf(Part &part, const char *name, uint32_t variant);
int32_t addEntry(mille_task &task, CUmodule module, const char *name,
                 uint64_t threads, uint64_t sharedBytes);

// The device's address for one of the host's, or for a temporary's handle; 0
// where it has none.
CUdeviceptr addressOf(mille_session &session, const void *address,
                      uint64_t temporary);
// Appends a launch, after executing what there is if there is no more room.
// With a profile it is executed, waited for and measured.
int32_t append(mille_session &session, const Kernel &kernel,
               const Arguments &arguments);
int32_t appendFill(mille_session &session, CUdeviceptr to, uint64_t zeros);

CUresult tensorMapOf(Part &part, const TensorKey &key, CUtensorMap &map);

mille_status enter(mille_session &session, mille::Device &device);
void plan(mille_session &session);
mille_status settle(mille_session &session);
void leave(mille_session &session);
int32_t begin(mille_session &session);
bool holds(const mille_session &session, const void *memory);
int32_t submit(mille_session &session);
int32_t finish(mille_session &session);
int32_t give(mille_session &session, const void *memory, uint64_t bytes);
int32_t keep(mille_session &session, const float *input, int64_t stride,
             int64_t rows, int64_t columns, float *out);
int32_t module(mille_task &task, const Module &module);
int32_t dispatch(mille_task &task, const mille_dispatch &what);
int32_t launch(mille_task &task, const mille_device_kernel &kernel,
               void *const *arguments);
int32_t allocate(mille_task &task, mille_buffer &buffer);
void release(mille_task &task, mille_buffer &buffer);
int32_t fetch(mille_session &session, const void *address, uint64_t temporary,
              void *to, uint64_t bytes);
void *pin(mille_session &session, uint64_t bytes);
int32_t gather(mille_session &session, const Gather &what);
int32_t mean(mille_session &session, const Mean &what);
int32_t similarity(mille_session &session, const Similarity &what);
int32_t route(mille_session &session, const Route &what);
int32_t remember(mille_session &session, const Remember &what);
int32_t recur(mille_session &session, const Recurrence &what);
mille_status moveState(mille_session &session, const StateMove &what);
mille_status measure(mille_session &session, mille_device &info, double &f32,
                     double &i32);

} // namespace mille::cuda
