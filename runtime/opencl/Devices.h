// The OpenCL devices of a machine: what they are, and which one is meant.
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

  // "" or null: the first GPU, or accelerator, or device; else its number in
  // the list, or part of its name. Null, with a message, where there is none.
  const Found *choose(const char *wish, Message &message) const;
};

// What mille_devices calls.
mille_status list(mille_device *infos, size_t room, size_t &count,
                  Message &message);

} // namespace mille::opencl
