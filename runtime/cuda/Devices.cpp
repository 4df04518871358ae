// Lists devices in the order of the driver, which $CUDA_VISIBLE_DEVICES
// changes.
#include "runtime/cuda/Devices.h"

#include "runtime/ChooseDevice.h"

#include <stdio.h>

namespace mille::cuda {

int attributeOf(const Library &library, CUdevice device, int what) {
  int value = 0;
  return library.cuDeviceGetAttribute(&value, what, device) == CUDA_SUCCESS
             ? value
             : 0;
}

static void describe(const Library &cuda, Found &found) {
  const CUdevice device = found.device;
  mille_device &info = found.info;
  if (cuda.cuDeviceGetName(info.name, sizeof info.name, device) != CUDA_SUCCESS)
    info.name[0] = 0;
  auto number = [&](int what) { return attributeOf(cuda, device, what); };
  snprintf(info.version, sizeof info.version, "compute capability %d.%d",
           number(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
           number(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  snprintf(info.driver, sizeof info.driver, "CUDA %d.%d", cuda.version / 1000,
           cuda.version % 1000 / 10);
  info.kind = MILLE_DEVICE_GPU;
  size_t memory = 0;
  cuda.cuDeviceTotalMem(&memory, device);
  info.memory_bytes = info.largest_buffer = memory;
  info.local_bytes =
      number(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  info.units = number(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  info.megahertz = number(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000;
  info.group_items = number(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  info.features =
      MILLE_DEVICE_F16 | MILLE_DEVICE_F64 | MILLE_DEVICE_LOCAL_MEMORY;
  if (number(CU_DEVICE_ATTRIBUTE_INTEGRATED))
    info.features |= MILLE_DEVICE_SHARES_MEMORY;
}

mille_status Devices::find(const Library &library, Message &message) {
  int all = 0;
  CUresult error = library.cuDeviceGetCount(&all);
  for (int d = 0; error == CUDA_SUCCESS && d < all && count < mostDevices;
       ++d) {
    found[count] = {0, {}};
    error = library.cuDeviceGet(&found[count].device, d);
    if (error == CUDA_SUCCESS)
      describe(library, found[count++]);
  }
  if (error != CUDA_SUCCESS)
    return message.set(MILLE_NO_DEVICE, "no CUDA device: %s",
                       library.nameOf(error).text);
  return count ? MILLE_OK
               : message.set(MILLE_NO_DEVICE,
                             "no CUDA device: the driver knows none");
}

mille_status list(mille_device *infos, size_t room, size_t &count,
                  Message &message) {
  return listDevices<Library, Devices>(infos, room, count, message);
}

} // namespace mille::cuda
