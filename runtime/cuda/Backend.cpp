// Opens a device for a package: its context, the package's weights. Must not
// know of runs.
#include "runtime/Backends.h"
#include "runtime/OpenDevice.h"
#include "runtime/cuda/Device.h"

namespace mille::cuda {

mille_status refuseMemory(const Device &device, const char *what,
                          uint64_t bytes, CUresult error, Message &message) {
  size_t left = 0, all = 0;
  device.cuda.cuMemGetInfo(&left, &all);
  return message.set(MILLE_OUT_OF_MEMORY,
                     "%s %llu bytes of %s, which has %llu and %llu left: %s",
                     what, (unsigned long long)bytes, device.info().name,
                     (unsigned long long)device.info().memory_bytes,
                     (unsigned long long)left, device.cuda.nameOf(error).text);
}

namespace {

void close(mille_package &package, mille::Device &base) {
  Device &device = static_cast<Device &>(base);
  if (device.context) {
    {
      Current current(device);
      unloadModules(package, device);
      if (device.weights)
        device.cuda.cuMemFree(device.weights);
    }
    device.cuda.cuDevicePrimaryCtxRelease(device.found.device);
  }
  package.memory.release(package.memory.user, &device);
}

mille_status uploadWeights(mille_package &package, Device &device) {
  const Weights &weights = package.weights;
  device.weightsBytes = weights.data + weights.bytes - weights.tensors;
  if (!device.weightsBytes)
    return MILLE_OK;
  const char *what = "the weights need";
  const Library &cuda = device.cuda;
  CUresult error = cuda.cuMemAlloc(&device.weights, device.weightsBytes);
  if (error == CUDA_SUCCESS)
    error =
        cuda.cuMemcpyHtoD(device.weights, weights.tensors, device.weightsBytes);
  return error == CUDA_SUCCESS ? MILLE_OK
                               : refuseMemory(device, what, device.weightsBytes,
                                              error, package.message());
}

mille_status openAnew(mille_package &package, Device &device) {
  const Library &cuda = device.cuda;
  device.local = LocalMemory::manyRows;
  CUresult error =
      cuda.cuDevicePrimaryCtxRetain(&device.context, device.found.device);
  if (error != CUDA_SUCCESS) {
    device.context = nullptr;
    return package.message().set(MILLE_NO_DEVICE, "%s cannot be used: %s",
                                 device.info().name, cuda.nameOf(error).text);
  }
  Current current(device);
  if (current.error != CUDA_SUCCESS)
    return package.message().set(MILLE_NO_DEVICE, "%s cannot be used: %s",
                                 device.info().name,
                                 cuda.nameOf(current.error).text);
  const mille_status status = uploadWeights(package, device);
  if (status == MILLE_OK)
    package.log("%s holds %llu bytes of weights", device.info().name,
                (unsigned long long)device.weightsBytes);
  return status;
}

struct Opening {
  using Library = cuda::Library;
  using Devices = cuda::Devices;
  using Device = cuda::Device;
  static const Found *choose(const Devices &devices, const char *wish,
                             Message &message) {
    return chooseDevice(devices.found, devices.count, wish, "CUDA", message);
  }
  static bool isOf(const Device &device, const Found &found) {
    return device.found.device == found.device;
  }
  static mille_status openAnew(mille_package &package, const Library &library,
                               const Found &found, Device &device) {
    device.cuda = library;
    device.found = found;
    return cuda::openAnew(package, device);
  }
  static void close(mille_package &package, mille::Device &device) {
    cuda::close(package, device);
  }
};

mille_status open(mille_package &package, const char *wish,
                  mille::Device *&opened) {
  return openDevice<Opening>(package, mille_cuda_backend, wish, opened);
}

} // namespace
} // namespace mille::cuda

using namespace mille::cuda;

const mille_backend mille_cuda_backend = {
    "cuda",     1u << MILLE_MODULE_PTX | 1u << MILLE_MODULE_CUBIN,
    open,       close,
    enter,      plan,
    settle,     leave,
    begin,      submit,
    finish,     module,
    dispatch,   launch,
    allocate,   release,
    give,       keep,
    fetch,      pin,
    gather,     mean,
    similarity, route,
    remember,   recur,
    moveState,  measure,
    holds};
