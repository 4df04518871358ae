// Opens a device for a package: its context, the package's weights. Must not
// know of runs.
#include "runtime/Backends.h"
#include "runtime/ChooseDevice.h"
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
  return uploadWeights(package, device);
}

mille::Device *deviceOf(const mille_package &package, const Found &found) {
  for (mille::Device *known = package.devices; known; known = known->next)
    if (known->backend == &mille_cuda_backend &&
        static_cast<Device *>(known)->found.device == found.device)
      return known;
  return nullptr;
}

mille_status open(mille_package &package, const char *wish,
                  mille::Device *&opened) {
  Library library;
  Devices devices;
  mille_status status = findDevices(library, devices, package.message());
  if (status != MILLE_OK)
    return status;
  const Found *found = chooseDevice(devices.found, devices.count, wish, "CUDA",
                                    package.message());
  if (!found)
    return MILLE_NO_DEVICE;
  if ((opened = deviceOf(package, *found)))
    return MILLE_OK;
  Device *device = package.memory.make<Device>();
  if (!device)
    return package.message().set(
        MILLE_OUT_OF_MEMORY, "a device needs %zu bytes but memory was refused",
        sizeof(Device));
  device->backend = &mille_cuda_backend;
  device->cuda = library;
  device->found = *found;
  status = openAnew(package, *device);
  if (status != MILLE_OK) {
    close(package, *device);
    return status;
  }
  package.log("%s holds %llu bytes of weights", device->info().name,
              (unsigned long long)device->weightsBytes);
  device->next = package.devices;
  package.devices = opened = device;
  return MILLE_OK;
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
    gather,     mean,
    similarity, route,
    remember,   recur,
    moveState,  measure};
