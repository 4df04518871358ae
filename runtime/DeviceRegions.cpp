// Lays out a session's memory on a device. Every region starts at a multiple of
// an alignment that all devices accept.
#include "runtime/DeviceRegions.h"

#include <string.h>

namespace mille {
namespace {

using ull = unsigned long long;

constexpr uint64_t alignment = 1024;

uint64_t bytesOf(const mille_tensor_info &info, const Sizes &sizes) {
  uint64_t elements = 0;
  countElements(info, sizes, elements);
  return elements * 4;
}

uint64_t rounded(uint64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

Region *find(Region *regions, uint32_t count, const char *address) {
  for (uint32_t r = 0; r < count; ++r)
    if (address >= regions[r].begin &&
        address < regions[r].begin + regions[r].bytes)
      return &regions[r];
  return nullptr;
}

uint64_t endOf(const Region &region) {
  return region.offset + rounded(region.bytes);
}

} // namespace

uint64_t temporaryBytes(const mille_buffer &buffer) {
  uint64_t elements = 1;
  for (int32_t d = 0; d < buffer.dimensions; ++d)
    elements *= buffer.dimension[d].extent > 0 ? buffer.dimension[d].extent : 0;
  return elements * ((buffer.type_bits + 7) / 8);
}

bool DeviceRegions::make(const mille_model &model, const Memory &memory,
                         uint64_t &bytes) {
  uint32_t room = 1;
  for (uint32_t e = 0; e < model.entry_count; ++e) {
    const mille_entry &of = model.entries[e];
    const uint32_t own = 1 + of.input_count + of.output_count;
    room = own > room ? own : room;
  }
  bytes = room * sizeof(Region);
  regions = (Region *)memory.allocate(memory.user, bytes, 64);
  return regions;
}

void DeviceRegions::release(const Memory &memory) {
  if (tableList)
    memory.release(memory.user, tableList);
  if (regions)
    memory.release(memory.user, regions);
  tableList = regions = nullptr;
}

void DeviceRegions::place(mille_session &session) {
  const mille_entry &entry = *session.entry;
  Region *region = regions;
  uint64_t end = 0;
  auto add = [&](const void *begin, uint64_t bytes, bool written) {
    *region = {(const char *)begin, bytes, end, written};
    end = endOf(*region++);
  };
  add(session.arena,
      entry.arena_fixed_bytes +
          session.run.padded_rows * entry.arena_bytes_per_row,
      true);
  for (uint32_t i = 0; i < entry.input_count; ++i)
    add(session.inputs[i], bytesOf(entry.inputs[i], session.sizes), false);
  // The device writes every output, unless the host turns out to.
  for (uint32_t o = 0; o < entry.output_count; ++o)
    add(session.run.outputs[o], bytesOf(entry.outputs[o], session.sizes), true);
  regionCount = uint32_t(region - regions);
  givenUsed = 0;
}

void DeviceRegions::plan(mille_session &session) {
  place(session);
  const uint64_t end = endOf(regions[regionCount - 1]);
  regionBytes = end > regionBytes ? end : regionBytes;
}

bool DeviceRegions::addTable(const Memory &memory, const void *table,
                             uint64_t bytes) {
  for (uint32_t t = 0; t < tableCount; ++t)
    if (tableList[t].begin == table && tableList[t].bytes >= bytes)
      return true;
  if (tableCount == tableRoom) {
    const uint32_t room = tableRoom ? tableRoom * 2 : 8;
    auto *more =
        (Region *)memory.allocate(memory.user, room * sizeof(Region), 64);
    if (!more)
      return false;
    if (tableList) {
      memcpy(more, tableList, tableCount * sizeof(Region));
      memory.release(memory.user, tableList);
    }
    tableList = more;
    tableRoom = room;
  }
  tableList[tableCount++] = {(const char *)table, bytes, 0, false};
  return true;
}

void DeviceRegions::layOut(const DeviceStates &states) {
  uint64_t end = regionBytes;
  for (uint32_t t = 0; t < tableCount; ++t) {
    tableList[t].offset = end;
    end = endOf(tableList[t]);
  }
  stateList[0] = {DeviceStates::first(), states.bytes, end, false};
  end = endOf(stateList[0]);
  stateList[1] = {states.host, states.hostBytes, end, false};
  end = endOf(stateList[1]);
  stateList[2] = {nullptr, zeroBytes, end, false};
  end = endOf(stateList[2]);
  temporaries = end;
  all = end + most;
}

Region *DeviceRegions::of(const void *memory) {
  const char *address = (const char *)memory;
  Region *found = find(regions, regionCount, address);
  if (!found)
    found = find(tableList, tableCount, address);
  return found ? found : find(stateList, 2, address);
}

DevicePlace DeviceRegions::placeOf(const mille_session &session,
                                   const void *address, uint64_t temporary) {
  const char *byte = (const char *)address;
  const Weights &weights = session.package->weights;
  const uint64_t inWeights = byte - weights.tensors;
  if (temporary)
    return {DevicePlace::ofSession, temporary - 1};
  if (const Region *region = of(byte))
    return {DevicePlace::ofSession, region->offset + (byte - region->begin)};
  if (inWeights < (uint64_t)(weights.data + weights.bytes - weights.tensors))
    return {DevicePlace::ofWeights, inWeights};
  return {DevicePlace::nowhere, 0};
}

uint64_t DeviceRegions::reserve(mille_session &session, uint64_t bytes) {
  const uint64_t begin = used;
  used += rounded(bytes);
  if (session.planning) {
    most = used > most ? used : most;
  } else if (temporaries + used > all) {
    session.failed.change(0, MILLE_INTERNAL);
    mille_task_fail(
        &session.tasks[0], MILLE_INTERNAL,
        "a kernel needs %llu bytes of device memory but planned with %llu",
        (ull)used, (ull)most);
    return 0;
  }
  return temporaries + begin + 1;
}

char *DeviceRegions::copyOf(mille_session &session, const void *from,
                            uint64_t bytes) {
  const uint64_t begin = givenUsed;
  givenUsed += rounded(bytes);
  if (session.planning) {
    givenBytes = givenUsed > givenBytes ? givenUsed : givenBytes;
    return nullptr;
  }
  if (givenUsed > givenBytes) {
    session.failed.change(0, MILLE_INTERNAL);
    mille_task_fail(&session.tasks[0], MILLE_INTERNAL,
                    "a run gives %llu bytes to its device but planned with "
                    "%llu",
                    (ull)givenUsed, (ull)givenBytes);
    return nullptr;
  }
  return (char *)memcpy(given + begin, from, bytes);
}

} // namespace mille
