// What back ends share when a package opens a device and a session its part of
// it. Must not know kinds of devices: a back end has a Library and Devices as
// ChooseDevice.h says, a Device and a Part.
#pragma once
#include "runtime/Backend.h"
#include "runtime/ChooseDevice.h"
#include "runtime/Package.h"
#include "runtime/Session.h"

namespace mille {

// `Back`, a back end's way of opening devices, has its Library, Devices, Found
// and Device, and
//   const Found *choose(const Devices &, const char *wish, Message &)
//   bool isOf(const Device &, const Found &)
//   mille_status openAnew(mille_package &, const Library &, const Found &,
//                         Device &)
//   void close(mille_package &, mille::Device &)
// A device that a package has open is opened once.
template <typename Back>
mille_status openDevice(mille_package &package, const mille_backend &backend,
                        const char *wish, Device *&opened) {
  using Own = typename Back::Device;
  typename Back::Library library;
  typename Back::Devices devices;
  mille_status status = findDevices(library, devices, package.message());
  if (status != MILLE_OK)
    return status;
  const auto *found = Back::choose(devices, wish, package.message());
  if (!found)
    return MILLE_NO_DEVICE;
  for (Device *known = package.devices; known; known = known->next)
    if (known->backend == &backend &&
        Back::isOf(*static_cast<Own *>(known), *found)) {
      opened = known;
      return MILLE_OK;
    }
  Own *device = package.memory.template make<Own>();
  if (!device)
    return package.message().set(
        MILLE_OUT_OF_MEMORY, "a device needs %zu bytes but memory was refused",
        sizeof(Own));
  device->backend = &backend;
  status = Back::openAnew(package, library, *found, *device);
  if (status != MILLE_OK) {
    Back::close(package, *device);
    return status;
  }
  device->next = package.devices;
  package.devices = opened = device;
  return MILLE_OK;
}

// A session's part of a device, with its regions and `bytes` bytes for its
// entries, which are 0. The session has it if the status is MILLE_OK.
template <typename Part>
mille_status makePart(mille_session &session, Device &device, uint64_t bytes) {
  mille_package &package = *session.package;
  const Memory &memory = package.memory;
  uint64_t regions = 0;
  Part *part = memory.make<Part>();
  if (part)
    part->entries =
        (decltype(part->entries))memory.allocate(memory.user, bytes, 64);
  if (!part || !part->entries ||
      !part->regions.make(*package.model, memory, regions)) {
    if (part && part->entries)
      memory.release(memory.user, part->entries);
    if (part)
      memory.release(memory.user, part);
    return package.message().set(
        MILLE_OUT_OF_MEMORY,
        "a session on a device needs %llu bytes but memory was refused",
        (unsigned long long)(bytes + regions + sizeof(Part)));
  }
  memset((void *)part->entries, 0, bytes);
  part->device = &device;
  session.part = part;
  return MILLE_OK;
}

} // namespace mille
