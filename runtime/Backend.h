// The door for devices: what a kind of them does for packages and sessions.
// Must not name one; generated code does, by mille_isa.backend.
#pragma once
#include "runtime/Session.h"

namespace mille {

// Whether kernels bring what their groups share into local memory: where a device has
// such memory it pays for many rows.
enum class LocalMemory : uint8_t { never, manyRows, always };

// One device with a package's weights on it. A back end's own struct starts
// with it; the package keeps them until it closes.
struct Device {
  const mille_backend *backend;
  Device *next;
  LocalMemory local;
};

// What a session has on its device; a back end's own struct starts with it.
struct DevicePart {
  Device *device;
};

} // namespace mille

struct mille_backend {
  const char *name; // "opencl"

  // The device that is wished for ("": the best), with the weights; one that the
  // package has already is given again. The sentence goes into the package.
  mille_status (*open)(mille_package &package, const char *wish,
                       mille::Device *&device);
  void (*close)(mille_package &package, mille::Device &device);

  // A session's part. First `enter`; then the program runs once, planning: all
  // kernels are built and nothing is computed; then `settle` takes the memory.
  mille_status (*enter)(mille_session &session, mille::Device &device);
  mille_status (*settle)(mille_session &session);
  void (*leave)(mille_session &session);

  // Around a run. Each 0 or the code of what has failed.
  int32_t (*begin)(mille_session &session, const mille::Sizes &sizes);
  int32_t (*finish)(mille_session &session);

  // Of a kernel that is launched.
  int32_t (*source)(mille_task &task, const char *text);
  int32_t (*dispatch)(mille_task &task, const mille_dispatch &what);
  int32_t (*allocate)(mille_task &task, mille_buffer &buffer);
  void (*release)(mille_task &task, mille_buffer &buffer);

  // For what the host does between kernels: what the device wrote comes here,
  // what the host wrote goes there, rows of an output come as they are.
  int32_t (*take)(mille_session &session, const void *memory, uint64_t bytes);
  int32_t (*give)(mille_session &session, const void *memory, uint64_t bytes);
  int32_t (*keep)(mille_session &session, const float *input, int64_t stride,
                  int64_t rows, int64_t columns, float *out);

  // The session's device and its multiply-adds in registers, of f32 and of 32-bit
  // integers, in 10^9 operations a second. The sentence goes into the package.
  mille_status (*measure)(mille_session &session, mille_device &device, double &f32,
                          double &i32);
};

namespace mille {

// The program's launches on a session's device: whole ops, one after the other.
int32_t launchOnDevice(mille_session &session, const mille_stage *stages,
                       int32_t count);

// A step of the host within a run. On a device its inputs are taken from there
// and its results are given back; on the CPU nothing is to be done.
class HostStep {
public:
  explicit HostStep(mille_run *run) : session(sessionOf(run)) {}
  // Planning computes nothing.
  bool skipped() const { return session.planning || session.stopped(); }
  void take(const void *memory, int64_t rows, int64_t rowFloats);
  void give(const void *memory, int64_t rows, int64_t rowFloats);
  // A copy of rows to an output: true where the device does it, or nobody should.
  bool kept(const float *input, int64_t stride, int64_t rows, int64_t columns,
            float *out);

private:
  mille_session &session;
};

} // namespace mille
