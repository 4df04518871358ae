// Finds a machine's devices and chooses one by an application's wish. Must not
// know kinds of devices: a back end has a Library (load) and Devices (find,
// count, found[].info).
#pragma once
#include "runtime/Memory.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

namespace mille {

template <typename Library, typename Devices>
mille_status findDevices(Library &library, Devices &devices, Message &message) {
  mille_status status = library.load(message);
  return status == MILLE_OK ? devices.find(library, message) : status;
}

// Does the work of mille_devices.
template <typename Library, typename Devices>
mille_status listDevices(mille_device *infos, size_t room, size_t &count,
                         Message &message) {
  Library library;
  Devices devices;
  const mille_status status = findDevices(library, devices, message);
  for (uint32_t d = 0; d < devices.count && d < room; ++d)
    infos[d] = devices.found[d].info;
  count = devices.count;
  return status;
}

// wish: the device's number in the list, or a part of its name. "" or null
// chooses the first GPU, else the first accelerator, else the first device.
// Returns null, with a message, if no device fits. `count` is at least 1.
// `field` names the devices in the message: "OpenCL".
template <typename Found>
const Found *chooseDevice(const Found *found, uint32_t count, const char *wish,
                          const char *field, Message &message) {
  const mille_device_kind order[] = {MILLE_DEVICE_GPU, MILLE_DEVICE_ACCELERATOR,
                                     MILLE_DEVICE_OTHER, MILLE_DEVICE_CPU};
  if (!wish || !*wish) {
    for (mille_device_kind kind : order)
      for (uint32_t d = 0; d < count; ++d)
        if (found[d].info.kind == kind)
          return &found[d];
  }
  char *end = nullptr;
  unsigned long number = strtoul(wish ? wish : "", &end, 10);
  for (uint32_t d = 0; d < count; ++d)
    if (*end == 0 ? d == number
                  : strcasestr(found[d].info.name, wish) != nullptr)
      return &found[d];
  message.set(MILLE_NO_DEVICE,
              "no %s device is called '%s': there are %u, the first is %s",
              field, wish, count, found[0].info.name);
  return nullptr;
}

} // namespace mille
