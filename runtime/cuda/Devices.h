// Lists a machine's CUDA devices. Must not keep one open.
#pragma once
#include "runtime/cuda/Library.h"

namespace mille::cuda {

constexpr int mostDevices = 64;

struct Found {
  CUdevice device;
  mille_device info;
};

struct Devices {
  uint32_t count = 0;
  Found found[mostDevices];

  mille_status find(const Library &library, Message &message);
};

// A number that the driver says of a device; 0 if it says none.
int attributeOf(const Library &library, CUdevice device, int what);

// Does the work of mille_devices.
mille_status list(mille_device *infos, size_t room, size_t &count,
                  Message &message);

} // namespace mille::cuda
