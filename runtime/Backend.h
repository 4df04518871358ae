// The door for devices: what a kind of them does for packages and sessions.
// Must not name one; generated code does, by mille_isa.backend.
#pragma once
#include "runtime/Session.h"
#include "runtime/Steps.h"

namespace mille {

// Whether kernels bring what their groups share into local memory: where a
// device has such memory it pays for many rows.
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

// A launch over the rows of all experts. Where each one's rows start is in
// `starts`, of the device's memory: its groups find their expert there.
struct Experts {
  mille_buffer starts;
  const mille_buffer *buffers;
  uint32_t count;        // of the buffers, which are as one expert sees them
  int64_t entries, rows; // of all
  int64_t rowBytes[MILLE_MAX_BUFFERS],
      entryBytes[MILLE_MAX_BUFFERS]; // 0: shared
};

} // namespace mille

struct mille_backend {
  const char *name; // "opencl"

  // The device that is wished for ("": the best), with the weights; one that
  // the package has already is given again. The sentence goes into the package.
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

  // What the host wrote goes there; `memory` may change when this returns.
  // Planning says how much there will be of it.
  int32_t (*give)(mille_session &session, const void *memory, uint64_t bytes);
  // Rows of an output come as they are.
  int32_t (*keep)(mille_session &session, const float *input, int64_t stride,
                  int64_t rows, int64_t columns, float *out);

  // The runtime's own steps, enqueued as kernels are; planning makes them.
  // Every address is one that stands for the device's memory, but for
  // Gather.index.
  int32_t (*gather)(mille_session &session, const mille::Gather &what);
  int32_t (*mean)(mille_session &session, const mille::Mean &what);
  int32_t (*similarity)(mille_session &session, const mille::Similarity &what);
  int32_t (*route)(mille_session &session, const mille::Route &what);

  // The session's device and its multiply-adds in registers, of f32 and of
  // 32-bit integers, in 10^9 operations a second. The sentence goes into the
  // package.
  mille_status (*measure)(mille_session &session, mille_device &device,
                          double &f32, double &i32);
};

namespace mille {

// The program's launches on a session's device: whole ops, one after the other.
int32_t launchOnDevice(mille_session &session, const mille_stage *stages,
                       int32_t count);

// A step that is the host's, on a device too: it reads inputs, or what such
// steps have left. Its results are given to the device; on the CPU nothing is
// to be done.
class HostStep {
public:
  HostStep(mille_run *run, const void *out, int64_t rows, int64_t rowFloats);
  // Planning computes nothing.
  bool skipped() const { return session.planning || session.stopped(); }
  void give();

private:
  mille_session &session;
  const void *out;
  uint64_t bytes;
};

// A step that is the device's, where there is one: then, or where nobody should
// do it, true, and the host has nothing to do.
template <typename What>
bool doneOnDevice(mille_session &session,
                  int32_t (*mille_backend::*step)(mille_session &,
                                                  const What &),
                  const What &what) {
  if (session.stopped())
    return true;
  if (session.part)
    (session.part->device->backend->*step)(session, what);
  return session.part;
}

} // namespace mille
