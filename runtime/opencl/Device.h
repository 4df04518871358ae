// An opened OpenCL device, and a session's part of it. Private to this folder.
#pragma once
#include "runtime/Backend.h"
#include "runtime/opencl/Context.h"

namespace mille::opencl {

// Some of the weights, of whole tensors.
struct WeightBuffer {
  cl_mem memory;
  uint64_t first, bytes; // in the weights
};

struct Device : mille::Device {
  Context *shared = nullptr;
  WeightBuffer *buffers = nullptr; // in order
  uint32_t bufferCount = 0;
  uint64_t weightsBytes = 0;
  cl_program *programs = nullptr; // [kernels * 2]: of each row class; the context's

  const Library &library() const { return shared->library; }
  const mille_device &info() const { return shared->found.info; }
};

// Host memory that stands for a piece of the session's device memory.
struct Region {
  const char *begin;
  uint64_t bytes, offset;
  bool written; // by the device, since the host last saw it
};

// A kernel of a program, with arguments of its own.
struct Entry {
  const char *name;
  uint32_t variant;
  cl_kernel kernel;
};

struct Part : DevicePart {
  cl_command_queue queue = nullptr;
  cl_mem memory = nullptr; // arena | inputs | outputs | temporaries
  uint64_t bytes = 0, temporaries = 0, used = 0, most = 0;
  Region *regions = nullptr; // the arena's, inputs', outputs'
  uint32_t regionCount = 0;
  Entry *entries = nullptr;
  uint32_t entryCount = 0, entryRoom = 0, pending = 0;

  Device &on() const { return *static_cast<Device *>(device); }
};

inline Part &partOf(const mille_session &session) {
  return *static_cast<Part *>(session.part);
}

// Says that what needs (`what`: "the weights need") `bytes` does not fit, with the
// device's numbers.
mille_status refuseMemory(const Device &device, const char *what,
                          uint64_t bytes, cl_int error, Message &message);

mille_status uploadWeights(mille_package &package, Device &device);
void releaseWeights(mille_package &package, Device &device);
// The buffer with byte `place` of the weights; null: none.
const WeightBuffer *weightBufferOf(const Device &device, uint64_t place);

mille_status measure(mille_session &session, mille_device &info, double &f32,
                     double &i32);
mille_status enter(mille_session &session, mille::Device &device);
mille_status settle(mille_session &session);
void leave(mille_session &session);
int32_t begin(mille_session &session, const Sizes &sizes);
int32_t finish(mille_session &session);
int32_t source(mille_task &task, const char *text);
int32_t dispatch(mille_task &task, const mille_dispatch &what);
int32_t allocate(mille_task &task, mille_buffer &buffer);
void release(mille_task &task, mille_buffer &buffer);
int32_t take(mille_session &session, const void *memory, uint64_t bytes);
int32_t give(mille_session &session, const void *memory, uint64_t bytes);
int32_t keep(mille_session &session, const float *input, int64_t stride,
             int64_t rows, int64_t columns, float *out);

} // namespace mille::opencl
