// Lists a machine's OpenCL devices, and chooses one by number or name.
// Must not keep one open.
#pragma once
#include "runtime/opencl/Library.h"

namespace mille::opencl {

constexpr cl_uint mostDevices = 64, mostPlatforms = 16;

struct Found {
  cl_device_id device;
  cl_platform_id platform;
  mille_device info;
};

struct Devices {
  cl_uint count = 0;
  Found found[mostDevices];

  mille_status find(const Library &library, Message &message);

  // wish: the device's number in the list, or a part of its name. "" or null
  // chooses the first GPU, else the first accelerator, else the first device.
  // Returns null, with a message, if no device fits.
  const Found *choose(const char *wish, Message &message) const;
};

// Does the work of mille_devices.
mille_status list(mille_device *infos, size_t room, size_t &count,
                  Message &message);

} // namespace mille::opencl
