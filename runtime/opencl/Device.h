// An opened OpenCL device, and a session's part of it. Private to this folder.
#pragma once
#include "runtime/Backend.h"
#include "runtime/DeviceRegions.h"
#include "runtime/opencl/Context.h"
#include "runtime/steps/StepCalls.h"

namespace mille::opencl {

// A buffer with a part of the weights; it holds whole tensors.
struct WeightBuffer {
  cl_mem memory;
  uint64_t first, bytes; // the part's range in the weights data
};

struct Device : mille::Device {
  Context *shared = nullptr;
  WeightBuffer *buffers = nullptr; // in the order of the weights data
  uint32_t bufferCount = 0;
  uint64_t weightsBytes = 0;
  // [kernels * 2]: one per row class; the context owns them
  cl_program *programs = nullptr;

  const Library &library() const { return shared->library; }
  const mille_device &info() const { return shared->found.info; }
};

// An OpenCL kernel of a program; a cl_kernel holds its arguments, so each
// session has its own.
struct Entry {
  const char *name;
  uint32_t variant;
  cl_kernel kernel;
};

// The texts of the runtime's own steps, and of a device's peak.
const char *textOf(Step step);
const char *peakText();

struct Part : DevicePart {
  cl_command_queue queue = nullptr;
  cl_mem memory = nullptr; // regions | tables | states | temporaries
  DeviceRegions regions;
  char *given = nullptr; // what the host gave, until the device has read it
  cl_kernel steps[stepCount] = {};
  Entry *entries = nullptr;
  uint32_t entryCount = 0, entryRoom = 0, pending = 0;

  Device &on() const { return *static_cast<Device *>(device); }
};

inline Part &partOf(const mille_session &session) {
  return *static_cast<Part *>(session.part);
}
inline const Library &libraryOf(const Part &part) {
  return part.on().library();
}

// Reports that `bytes` bytes do not fit, with the device's limits. `what`
// begins the sentence: "the weights need".
mille_status refuseMemory(const Device &device, const char *what,
                          uint64_t bytes, cl_int error, Message &message);

// Fails the run, or the planning, and reports the device's error code.
int32_t fail(mille_session &session, const char *what, cl_int error);
// While planning: fails if the device has no work-groups of this size.
int32_t checkGroup(mille_session &session, uint64_t items, uint64_t localBytes);
// Sets two arguments for the address: the memory object that it stands for, and
// the offset in it in bytes. `device`: the handle of a temporary (reserve),
// else 0.
cl_int setPlace(mille_session &session, cl_kernel kernel, cl_uint &number,
                const void *address, uint64_t device);
int32_t enqueue(mille_session &session, cl_kernel kernel, const char *name,
                const size_t global[3], const size_t items[3], cl_event *event);

// Copies constant bytes to the device before any run, and waits for the copy.
cl_int upload(const Device &device, cl_mem memory, uint64_t offset,
              const void *from, uint64_t bytes);

mille_status uploadWeights(mille_package &package, Device &device);
void releaseWeights(mille_package &package, Device &device);
// The buffer that holds byte `place` of the weights data, or null.
const WeightBuffer *weightBufferOf(const Device &device, uint64_t place);

mille_status measure(mille_session &session, mille_device &info, double &f32,
                     double &i32);
mille_status enter(mille_session &session, mille::Device &device);
void plan(mille_session &session);
mille_status settle(mille_session &session);
void leave(mille_session &session);
int32_t begin(mille_session &session);
int32_t submit(mille_session &session);
int32_t finish(mille_session &session);
int32_t module(mille_task &task, const Module &module);
int32_t dispatch(mille_task &task, const mille_dispatch &what);
int32_t allocate(mille_task &task, mille_buffer &buffer);
void release(mille_task &task, mille_buffer &buffer);
int32_t give(mille_session &session, const void *memory, uint64_t bytes);
int32_t keep(mille_session &session, const float *input, int64_t stride,
             int64_t rows, int64_t columns, float *out);
int32_t fetch(mille_session &session, const void *address, uint64_t temporary,
              void *to, uint64_t bytes);
int32_t gather(mille_session &session, const Gather &what);
int32_t mean(mille_session &session, const Mean &what);
int32_t similarity(mille_session &session, const Similarity &what);
int32_t route(mille_session &session, const Route &what);
int32_t remember(mille_session &session, const Remember &what);
int32_t recur(mille_session &session, const Recurrence &what);
mille_status moveState(mille_session &session, const StateMove &what);

} // namespace mille::opencl
