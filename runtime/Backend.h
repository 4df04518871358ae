// The interface of a kind of devices: what it does for packages and sessions.
// Must not name a kind; generated code does, by mille_isa.backend, and
// Backends.h.
#pragma once
#include "runtime/Session.h"
#include "runtime/Steps.h"

namespace mille {

// When kernels copy what a work-group shares into local memory: on a device
// that has such memory it pays for many rows.
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

// Kernels, as one call of generated code hands them over.
struct Module {
  uint32_t kind; // MILLE_MODULE_*
  const void *bytes;
  size_t size;
};

// Bytes of a state between the device and the host, within the device, or
// zeros. `state` is an address that stands for the device's memory.
struct StateMove {
  enum Kind : uint8_t { read, write, copy, clear } kind;
  void *state;
  void *other; // of the host; copy: where they come from, a state too
  uint64_t bytes;
};

// A launch over the rows of all experts. `starts`, in the device's memory, says
// where each expert's rows begin; work-groups find their expert by it.
struct Experts {
  mille_buffer starts;
  const mille_buffer *buffers;
  uint32_t count;        // of buffers; each is as one expert sees it
  int64_t entries, rows; // of all
  int64_t rowBytes[MILLE_MAX_BUFFERS],
      entryBytes[MILLE_MAX_BUFFERS]; // 0: shared

  // Groups along the rows beyond those that all rows together need: the last
  // group of each expert may be incomplete.
  int64_t moreGroups() const { return (rows < entries ? rows : entries) - 1; }
};

} // namespace mille

struct mille_backend {
  const char *name;     // as it is named before the colon of "NAME:1"
  uint32_t moduleKinds; // bit k: it takes modules of kind k

  // The device of this name ("": the best) with the weights; a device that the
  // package has already is returned again. The package's message says failures.
  mille_status (*open)(mille_package &package, const char *wish,
                       mille::Device *&device);
  void (*close)(mille_package &package, mille::Device &device);

  // A session's part. First `enter`; then the program of each entry runs once,
  // planning, after a call of `plan`: all kernels are built and nothing is
  // computed; then `settle` takes the memory.
  mille_status (*enter)(mille_session &session, mille::Device &device);
  void (*plan)(mille_session &session);
  mille_status (*settle)(mille_session &session);
  void (*leave)(mille_session &session);

  // Called before and after a run's program: `submit` hands over what is left
  // and does not wait, `finish` waits, also where the program failed and
  // nothing was submitted. Return 0, or the code of the failure.
  int32_t (*begin)(mille_session &session);
  int32_t (*submit)(mille_session &session);
  int32_t (*finish)(mille_session &session);

  // Called by a kernel that is launched.
  int32_t (*module)(mille_task &task, const mille::Module &module);
  int32_t (*dispatch)(mille_task &task, const mille_dispatch &what);
  // Null where no kernel of the kind comes as a table (mille_device_kernel).
  int32_t (*launch)(mille_task &task, const mille_device_kernel &kernel,
                    void *const *arguments);
  int32_t (*allocate)(mille_task &task, mille_buffer &buffer);
  void (*release)(mille_task &task, mille_buffer &buffer);

  // Copies what the host wrote to the device; the caller may overwrite `memory`
  // afterwards. Planning says how many bytes there will be.
  int32_t (*give)(mille_session &session, const void *memory, uint64_t bytes);
  // Copies rows to an output as they are. Planning calls it too.
  int32_t (*keep)(mille_session &session, const float *input, int64_t stride,
                  int64_t rows, int64_t columns, float *out);

  // Waits for what was enqueued, and copies what it has computed to the host.
  // `temporary`: the handle of one, in place of the address; else 0.
  int32_t (*fetch)(mille_session &session, const void *address,
                   uint64_t temporary, void *to, uint64_t bytes);

  // Memory to which outputs are copied at once, until the session leaves; null
  // where that is refused. Null where any memory is as good.
  void *(*pin)(mille_session &session, uint64_t bytes);

  // The runtime's own steps, enqueued like kernels; planning builds them. Every
  // address stands for memory of the device, except Gather.index.
  int32_t (*gather)(mille_session &session, const mille::Gather &what);
  int32_t (*mean)(mille_session &session, const mille::Mean &what);
  int32_t (*similarity)(mille_session &session, const mille::Similarity &what);
  int32_t (*route)(mille_session &session, const mille::Route &what);
  int32_t (*remember)(mille_session &session, const mille::Remember &what);
  int32_t (*recur)(mille_session &session, const mille::Recurrence &what);

  // Between runs: moves or clears bytes of a state. What is read has arrived
  // when it returns. The session's message says failures.
  mille_status (*moveState)(mille_session &session,
                            const mille::StateMove &what);

  // The session's device and its peak: multiply-adds in registers, of f32 and
  // of 32-bit integers, in 10^9 operations per second. The package's message
  // says failures.
  mille_status (*measure)(mille_session &session, mille_device &device,
                          double &f32, double &i32);
  // Whether an application's memory is a device's, which the host cannot read.
  // Null: no memory is.
  bool (*holds)(const mille_session &session, const void *memory);
};

namespace mille {

// Runs the launches of a program on a session's device, whole ops one by one.
int32_t launchOnDevice(mille_session &session, const mille_stage *stages,
                       int32_t count);

// On a device, between a choice and the sorting of its rows: tells it who sees
// choices. `experts` is the handle of the rows' experts. 0, or a failure's
// code.
int32_t tellChoice(mille_session &session, const Route &what, uint64_t experts);

// A step that the host computes even where the session runs on a device: it
// reads inputs, or results of such steps. `give` copies its results to the
// device; on the CPU it does nothing.
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

// Runs a step on the session's device, if it has one. True where the host must
// not compute it: the device does, or the run has stopped.
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
