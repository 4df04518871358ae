// Opens a device for a package: its context, its choice of local memory, the
// package's weights. Must not know of runs.
#include "runtime/Backends.h"
#include "runtime/OpenDevice.h"
#include "runtime/opencl/Device.h"

#include <stdlib.h>
#include <string.h>

namespace mille::opencl {
namespace {

void close(mille_package &package, mille::Device &base) {
  Device &device = static_cast<Device &>(base);
  const Memory &memory = package.memory;
  releaseWeights(package, device);
  if (device.shared)
    leaveContext(*device.shared);
  if (device.programs)
    memory.release(memory.user, device.programs);
  memory.release(memory.user, &device);
}

// $MILLE_OPENCL_LOCAL decides, or else the device: on a device without local
// memory of its own, a copy into local memory gains nothing.
mille_status chooseLocalMemory(Device &device, Message &message) {
  const char *wish = getenv("MILLE_OPENCL_LOCAL");
  bool has = device.info().features & MILLE_DEVICE_LOCAL_MEMORY;
  device.local = has ? LocalMemory::manyRows : LocalMemory::never;
  if (!wish || !*wish)
    return MILLE_OK;
  if (strcmp(wish, "0") != 0 && strcmp(wish, "1") != 0)
    return message.set(MILLE_NO_DEVICE,
                       "MILLE_OPENCL_LOCAL is '%s' but must be 0 or 1", wish);
  device.local = *wish == '1' ? LocalMemory::always : LocalMemory::never;
  return MILLE_OK;
}

mille_status openAnew(mille_package &package, const Library &library,
                      const Found &found, Device &device) {
  const Memory &memory = package.memory;
  uint64_t programs =
      (package.model->kernel_count + 1) * 2 * sizeof(cl_program);
  device.programs = (cl_program *)memory.allocate(memory.user, programs, 64);
  if (!device.programs)
    return package.message().set(
        MILLE_OUT_OF_MEMORY,
        "a device's programs need %llu bytes but memory "
        "was refused",
        (unsigned long long)programs);
  for (uint32_t k = 0; k < package.model->kernel_count * 2; ++k)
    device.programs[k] = nullptr;
  mille_status status =
      enterContext(library, found, device.shared, package.message());
  if (status == MILLE_OK)
    status = chooseLocalMemory(device, package.message());
  if (status == MILLE_OK)
    status = uploadWeights(package, device);
  if (status == MILLE_OK)
    package.log("%s holds %llu bytes of weights in %u buffers",
                device.info().name, (unsigned long long)device.weightsBytes,
                device.bufferCount);
  return status;
}

struct Opening {
  using Library = opencl::Library;
  using Devices = opencl::Devices;
  using Device = opencl::Device;
  static const Found *choose(const Devices &devices, const char *wish,
                             Message &message) {
    return devices.choose(wish, message);
  }
  static bool isOf(const Device &device, const Found &found) {
    return device.shared->found.device == found.device;
  }
  static mille_status openAnew(mille_package &package, const Library &library,
                               const Found &found, Device &device) {
    return opencl::openAnew(package, library, found, device);
  }
  static void close(mille_package &package, mille::Device &device) {
    opencl::close(package, device);
  }
};

mille_status open(mille_package &package, const char *wish,
                  mille::Device *&opened) {
  return openDevice<Opening>(package, mille_opencl_backend, wish, opened);
}

} // namespace

mille_status refuseMemory(const Device &device, const char *what,
                          uint64_t bytes, cl_int error, Message &message) {
  const mille_device &info = device.info();
  return message.set(MILLE_OUT_OF_MEMORY,
                     "%s %llu bytes of %s, which has %llu and gives at most "
                     "%llu at once%s%s",
                     what, (unsigned long long)bytes, info.name,
                     (unsigned long long)info.memory_bytes,
                     (unsigned long long)info.largest_buffer, error ? ": " : "",
                     error ? ErrorName(error).text : "");
}

} // namespace mille::opencl

using namespace mille::opencl;

const mille_backend mille_opencl_backend = {
    "opencl",   1u << MILLE_MODULE_OPENCL_TEXT,
    open,       close,
    enter,      plan,
    settle,     leave,
    begin,      submit,
    finish,     module,
    dispatch,   nullptr,
    allocate,   release,
    give,       keep,
    fetch,      nullptr,
    gather,     mean,
    similarity, route,
    remember,   recur,
    moveState,  measure,
    nullptr};
