// Lists devices of all platforms in the order of the library, and chooses one.
#include "runtime/opencl/Devices.h"

#include "runtime/ChooseDevice.h"

#include <stdlib.h>
#include <string.h>

namespace mille::opencl {
namespace {

template <typename T>
T numberOf(const Library &library, cl_device_id device, cl_device_info what) {
  T value = 0;
  library.clGetDeviceInfo(device, what, sizeof value, &value, nullptr);
  return value;
}

// A text that does not fit becomes "".
void textOf(const Library &library, cl_device_id device, cl_device_info what,
            char *text, size_t size) {
  text[0] = 0;
  if (library.clGetDeviceInfo(device, what, size, text, nullptr) != CL_SUCCESS)
    text[0] = 0;
}

bool hasExtension(const char *extensions, const char *name) {
  size_t length = strlen(name);
  for (const char *at = extensions; (at = strstr(at, name)); at += length)
    if ((at == extensions || at[-1] == ' ') &&
        (at[length] == ' ' || at[length] == 0))
      return true;
  return false;
}

void describe(const Library &library, Found &found) {
  cl_device_id device = found.device;
  mille_device &info = found.info;
  textOf(library, device, CL_DEVICE_NAME, info.name, sizeof info.name);
  textOf(library, device, CL_DEVICE_VERSION, info.version, sizeof info.version);
  textOf(library, device, CL_DRIVER_VERSION, info.driver, sizeof info.driver);
  cl_device_type type =
      numberOf<cl_device_type>(library, device, CL_DEVICE_TYPE);
  info.kind = type & CL_DEVICE_TYPE_GPU           ? MILLE_DEVICE_GPU
              : type & CL_DEVICE_TYPE_ACCELERATOR ? MILLE_DEVICE_ACCELERATOR
              : type & CL_DEVICE_TYPE_CPU         ? MILLE_DEVICE_CPU
                                                  : MILLE_DEVICE_OTHER;
  info.memory_bytes =
      numberOf<cl_ulong>(library, device, CL_DEVICE_GLOBAL_MEM_SIZE);
  info.largest_buffer =
      numberOf<cl_ulong>(library, device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  info.local_bytes =
      numberOf<cl_ulong>(library, device, CL_DEVICE_LOCAL_MEM_SIZE);
  info.units = numberOf<cl_uint>(library, device, CL_DEVICE_MAX_COMPUTE_UNITS);
  info.megahertz =
      numberOf<cl_uint>(library, device, CL_DEVICE_MAX_CLOCK_FREQUENCY);
  info.group_items =
      numberOf<size_t>(library, device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  char extensions[8192];
  textOf(library, device, CL_DEVICE_EXTENSIONS, extensions, sizeof extensions);
  info.features = 0;
  if (hasExtension(extensions, "cl_khr_fp16"))
    info.features |= MILLE_DEVICE_F16;
  if (hasExtension(extensions, "cl_khr_fp64"))
    info.features |= MILLE_DEVICE_F64;
  if (numberOf<cl_device_local_mem_type>(library, device,
                                         CL_DEVICE_LOCAL_MEM_TYPE) == CL_LOCAL)
    info.features |= MILLE_DEVICE_LOCAL_MEMORY;
  if (numberOf<cl_bool>(library, device, CL_DEVICE_HOST_UNIFIED_MEMORY))
    info.features |= MILLE_DEVICE_SHARES_MEMORY;
}

// $MILLE_OPENCL_BUFFER limits the bytes of one buffer, since some drivers
// allocate less than they claim. False if its text is not a number of bytes.
bool readMostBytes(uint64_t &most) {
  const char *wish = getenv("MILLE_OPENCL_BUFFER");
  most = UINT64_MAX;
  if (!wish || !*wish)
    return true;
  char *end;
  most = strtoull(wish, &end, 10);
  return *wish >= '0' && *wish <= '9' && *end == 0 && most;
}

} // namespace

mille_status Devices::find(const Library &library, Message &message) {
  uint64_t mostBytes;
  if (!readMostBytes(mostBytes))
    return message.set(
        MILLE_NO_DEVICE,
        "MILLE_OPENCL_BUFFER is '%s' but must be a number of bytes",
        getenv("MILLE_OPENCL_BUFFER"));
  cl_platform_id platforms[mostPlatforms];
  cl_uint platformCount = 0;
  cl_int error =
      library.clGetPlatformIDs(mostPlatforms, platforms, &platformCount);
  platformCount = platformCount < mostPlatforms ? platformCount : mostPlatforms;
  for (cl_uint p = 0; error == CL_SUCCESS && p < platformCount; ++p) {
    cl_device_id devices[mostDevices];
    cl_uint deviceCount = 0;
    if (library.clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, mostDevices,
                               devices, &deviceCount) != CL_SUCCESS)
      continue;
    for (cl_uint d = 0; d < deviceCount && count < mostDevices; ++d) {
      found[count] = {devices[d], platforms[p], {}};
      describe(library, found[count]);
      uint64_t &largest = found[count++].info.largest_buffer;
      largest = largest < mostBytes ? largest : mostBytes;
    }
  }
  if (count)
    return MILLE_OK;
  if (error != CL_SUCCESS)
    return message.set(MILLE_NO_DEVICE, "no OpenCL device: %s",
                       ErrorName(error).text);
  return message.set(MILLE_NO_DEVICE,
                     "no OpenCL device: the library knows %u platforms and "
                     "none has a device",
                     platformCount);
}

const Found *Devices::choose(const char *wish, Message &message) const {
  return chooseDevice(found, count, wish, "OpenCL", message);
}

mille_status list(mille_device *infos, size_t room, size_t &count,
                  Message &message) {
  return listDevices<Library, Devices>(infos, room, count, message);
}

} // namespace mille::opencl
