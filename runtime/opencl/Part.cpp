// A session's part of a device: its queue, its memory, and where buffers lie in
// it. Must only enqueue between the start and the end of a run.
#include "runtime/opencl/Device.h"

#include <string.h>

namespace mille::opencl {
namespace {

using ull = unsigned long long;

constexpr uint64_t alignment = 1024;     // of each region of the memory
constexpr uint32_t entriesOfAKernel = 4; // the most dispatches per row class
constexpr uint32_t enqueuedAtMost = 16;  // commands before a flush

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

// The region that an address lies in. Null for an address of the weights, or of
// host memory that has no copy on the device.
Region *regionOf(Part &part, const void *memory) {
  const char *address = (const char *)memory;
  Region *found = find(part.regions, part.regionCount, address);
  return found ? found : find(part.tables, part.tableCount, address);
}

// Makes a region for the run's arena and for each of its inputs and outputs.
// `end` is the end of the last region on the device.
void placeRegions(mille_session &session, uint64_t &end) {
  const mille_entry &entry = *session.entry;
  Part &part = partOf(session);
  Region *region = part.regions;
  end = 0;
  auto place = [&](const void *begin, uint64_t bytes, bool written) {
    *region++ = {(const char *)begin, bytes, end, written};
    end += rounded(bytes);
  };
  place(session.arena, session.run.padded_rows * entry.arena_bytes_per_row,
        true);
  for (uint32_t i = 0; i < entry.input_count; ++i)
    place(session.inputs[i], bytesOf(entry.inputs[i], session.sizes), false);
  // The device writes every output, unless the host turns out to (give, keep).
  for (uint32_t o = 0; o < entry.output_count; ++o)
    place(session.run.outputs[o], bytesOf(entry.outputs[o], session.sizes),
          true);
  part.regionCount = uint32_t(region - part.regions);
}

// Places tables and temporaries after the regions of the largest run.
void layOut(Part &part) {
  uint64_t end = part.regionBytes;
  for (uint32_t t = 0; t < part.tableCount; ++t) {
    part.tables[t].offset = end;
    end += rounded(part.tables[t].bytes);
  }
  part.temporaries = end;
  part.bytes = end + part.most;
}

} // namespace

int32_t fail(mille_session &session, const char *what, cl_int error) {
  mille_status status = error == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
                                error == CL_OUT_OF_RESOURCES ||
                                error == CL_OUT_OF_HOST_MEMORY
                            ? MILLE_OUT_OF_MEMORY
                            : MILLE_NO_DEVICE;
  session.failed.change(0, status);
  return mille_task_fail(&session.tasks[0], status, "%s: %s: %s",
                         partOf(session).on().info().name, what,
                         ErrorName(error).text);
}

int32_t checkGroup(mille_session &session, uint64_t items,
                   uint64_t localBytes) {
  const mille_device &info = partOf(session).on().info();
  int32_t code = 0;
  if (items > info.group_items)
    code =
        mille_task_fail(&session.tasks[0], MILLE_NO_DEVICE,
                        "%s has work-groups of up to %llu items but a kernel "
                        "needs %llu",
                        info.name, (ull)info.group_items, (ull)items);
  else if (localBytes > info.local_bytes)
    code =
        mille_task_fail(&session.tasks[0], MILLE_OUT_OF_MEMORY,
                        "%s has %llu bytes of local memory but a kernel needs "
                        "%llu",
                        info.name, (ull)info.local_bytes, (ull)localBytes);
  session.failed.change(0, code);
  return code;
}

cl_int setPlace(mille_session &session, cl_kernel kernel, cl_uint &number,
                const void *address, uint64_t temporary) {
  Part &part = partOf(session);
  const Library &cl = libraryOf(part);
  cl_mem memory = part.memory;
  cl_ulong first = 0;
  const char *byte = (const char *)address;
  const uint64_t inWeights = byte - session.package->weights.tensors;
  if (temporary) {
    first = temporary - 1;
  } else if (const Region *region = regionOf(part, byte)) {
    first = region->offset + (byte - region->begin);
  } else if (const WeightBuffer *weights =
                 weightBufferOf(part.on(), inWeights)) {
    memory = weights->memory;
    first = inWeights - weights->first;
  } else {
    return CL_INVALID_MEM_OBJECT;
  }
  cl_int error = cl.clSetKernelArg(kernel, number++, sizeof memory, &memory);
  if (error == CL_SUCCESS)
    error = cl.clSetKernelArg(kernel, number++, sizeof first, &first);
  return error;
}

int32_t enqueue(mille_session &session, cl_kernel kernel, const char *name,
                const size_t global[3], const size_t items[3],
                cl_event *event) {
  Part &part = partOf(session);
  const Library &cl = libraryOf(part);
  cl_int error = cl.clEnqueueNDRangeKernel(part.queue, kernel, 3, nullptr,
                                           global, items, 0, nullptr, event);
  if (error != CL_SUCCESS)
    return fail(session, name, error);
  if (++part.pending % enqueuedAtMost == 0)
    cl.clFlush(part.queue);
  return 0;
}

uint64_t reserve(mille_session &session, uint64_t bytes) {
  Part &part = partOf(session);
  const uint64_t begin = part.used;
  part.used += rounded(bytes);
  if (session.planning) {
    part.most = part.used > part.most ? part.used : part.most;
  } else if (part.temporaries + part.used > part.bytes) {
    session.failed.change(0, MILLE_INTERNAL);
    mille_task_fail(
        &session.tasks[0], MILLE_INTERNAL,
        "a kernel needs %llu bytes of device memory but planned with %llu",
        (ull)part.used, (ull)part.most);
    return 0;
  }
  return part.temporaries + begin + 1;
}

//===-- A session ---------------------------------------------------------===//

mille_status enter(mille_session &session, mille::Device &base) {
  Device &device = static_cast<Device &>(base);
  mille_package &package = *session.package;
  const mille_model &model = *package.model;
  Part *part = package.memory.make<Part>();
  Bytes sum;
  uint32_t regions = 1;
  for (uint32_t e = 0; e < model.entry_count; ++e) {
    const mille_entry &of = model.entries[e];
    uint32_t own = 1 + of.input_count + of.output_count;
    regions = own > regions ? own : regions;
  }
  uint32_t entries = (model.kernel_count + 1) * 2 * entriesOfAKernel;
  sum.place(regions, sizeof(Region));
  uint64_t second = sum.place(entries, sizeof(Entry));
  char *memory = (char *)(part ? package.memory.allocate(package.memory.user,
                                                         sum.value, 64)
                               : nullptr);
  if (!memory) {
    if (part)
      package.memory.release(package.memory.user, part);
    return package.message().set(MILLE_OUT_OF_MEMORY,
                                 "a session on a device needs %llu bytes but "
                                 "memory was refused",
                                 (ull)(sum.value + sizeof(Part)));
  }
  memset(memory, 0, sum.value);
  part->device = &device;
  part->regions = (Region *)memory;
  part->entries = (Entry *)(memory + second);
  part->entryRoom = entries;
  session.part = part;
  cl_int error;
  part->queue = device.library().clCreateCommandQueue(
      device.shared->context, device.shared->found.device,
      CL_QUEUE_PROFILING_ENABLE, &error);
  if (!part->queue)
    return package.message().set(MILLE_NO_DEVICE, "%s gives no queue: %s",
                                 device.info().name, ErrorName(error).text);
  return MILLE_OK;
}

void plan(mille_session &session) {
  Part &part = partOf(session);
  uint64_t end;
  placeRegions(session, end);
  part.regionBytes = end > part.regionBytes ? end : part.regionBytes;
  part.entryGiven = 0;
}

static mille_status uploadTables(mille_session &session, Part &part) {
  cl_int error = CL_SUCCESS;
  for (uint32_t t = 0; t < part.tableCount && error == CL_SUCCESS; ++t) {
    const Region &table = part.tables[t];
    error =
        upload(part.on(), part.memory, table.offset, table.begin, table.bytes);
  }
  if (error == CL_SUCCESS)
    return MILLE_OK;
  return session.package->message().set(
      MILLE_NO_DEVICE, "%s takes no tables: %s", part.on().info().name,
      ErrorName(error).text);
}

mille_status settle(mille_session &session) {
  Part &part = partOf(session);
  Device &device = part.on();
  layOut(part);
  cl_int error = CL_SUCCESS;
  if (part.bytes <= device.info().largest_buffer)
    part.memory = device.library().clCreateBuffer(
        device.shared->context, CL_MEM_READ_WRITE, part.bytes, nullptr, &error);
  if (!part.memory)
    return refuseMemory(device, "the session's activations need", part.bytes,
                        error, session.package->message());
  if (mille_status status = uploadTables(session, part))
    return status;
  const Memory &memory = session.package->memory;
  part.given = (char *)memory.allocate(memory.user, part.givenBytes + 64, 64);
  if (!part.given)
    return session.package->message().set(
        MILLE_OUT_OF_MEMORY,
        "what a device is given in a run needs "
        "%llu bytes but memory was refused",
        (ull)part.givenBytes);
  session.package->log("session on %s: %llu bytes of its memory, %u kernels",
                       device.info().name, (ull)part.bytes, part.entryCount);
  return MILLE_OK;
}

void leave(mille_session &session) {
  Part &part = partOf(session);
  const Library &cl = libraryOf(part);
  for (uint32_t e = 0; e < part.entryCount; ++e)
    cl.clReleaseKernel(part.entries[e].kernel);
  if (part.memory)
    cl.clReleaseMemObject(part.memory);
  if (part.queue)
    cl.clReleaseCommandQueue(part.queue);
  for (cl_kernel step : part.steps)
    if (step)
      cl.clReleaseKernel(step);
  const Memory &memory = session.package->memory;
  if (part.tables)
    memory.release(memory.user, part.tables);
  if (part.given)
    memory.release(memory.user, part.given);
  memory.release(memory.user, part.regions);
  memory.release(memory.user, &part);
  session.part = nullptr;
}

//===-- A run -------------------------------------------------------------===//

int32_t begin(mille_session &session) {
  Part &part = partOf(session);
  uint64_t end;
  placeRegions(session, end);
  part.givenUsed = 0;
  cl_int error = CL_SUCCESS;
  for (uint32_t i = 0; i < session.entry->input_count; ++i) {
    const Region &region = part.regions[1 + i];
    if (error == CL_SUCCESS && region.bytes)
      error = libraryOf(part).clEnqueueWriteBuffer(
          part.queue, part.memory, CL_FALSE, region.offset, region.bytes,
          region.begin, 0, nullptr, nullptr);
  }
  return error == CL_SUCCESS ? 0 : fail(session, "writing inputs", error);
}

int32_t finish(mille_session &session) {
  Part &part = partOf(session);
  const int32_t stopped = session.stopped(); // then outputs are not read back
  cl_int error = CL_SUCCESS;
  for (uint32_t r = 1; r < part.regionCount && !stopped; ++r) {
    const Region &region = part.regions[r];
    if (error == CL_SUCCESS && region.written && region.bytes)
      error = libraryOf(part).clEnqueueReadBuffer(
          part.queue, part.memory, CL_FALSE, region.offset, region.bytes,
          const_cast<char *>(region.begin), 0, nullptr, nullptr);
  }
  cl_int last = libraryOf(part).clFinish(part.queue);
  error = error == CL_SUCCESS ? last : error;
  return error == CL_SUCCESS ? stopped
                             : fail(session, "reading outputs", error);
}

//===-- What the host does between kernels --------------------------------===//

// Copies the bytes first, since the next step may overwrite the host's memory
// before the device has read it. The copies of a run lie one after the other.
int32_t give(mille_session &session, const void *memory, uint64_t bytes) {
  Part &part = partOf(session);
  if (session.planning) {
    part.entryGiven += rounded(bytes);
    part.givenBytes =
        part.entryGiven > part.givenBytes ? part.entryGiven : part.givenBytes;
    return 0;
  }
  Region *region = regionOf(part, memory);
  if (!region)
    return fail(session, "writing activations", CL_INVALID_MEM_OBJECT);
  char *copy = part.given + part.givenUsed;
  part.givenUsed += rounded(bytes);
  if (part.givenUsed > part.givenBytes)
    return fail(session, "writing activations", CL_OUT_OF_HOST_MEMORY);
  memcpy(copy, memory, bytes);
  uint64_t offset = region->offset + ((const char *)memory - region->begin);
  cl_int error = libraryOf(part).clEnqueueWriteBuffer(
      part.queue, part.memory, CL_FALSE, offset, bytes, copy, 0, nullptr,
      nullptr);
  if (region != part.regions)
    region->written = false; // an output whose values the host has already
  return error == CL_SUCCESS ? 0 : fail(session, "writing activations", error);
}

int32_t keep(mille_session &session, const float *input, int64_t stride,
             int64_t rows, int64_t columns, float *out) {
  Part &part = partOf(session);
  Region *region = regionOf(part, input);
  if (!region)
    return fail(session, "keeping activations", CL_INVALID_MEM_OBJECT);
  if (Region *output = regionOf(part, out))
    output->written = false; // the read below brings it, one entry per call
  uint64_t offset = region->offset + ((const char *)input - region->begin);
  const size_t from[3] = {offset, 0, 0}, to[3] = {0, 0, 0};
  const size_t extent[3] = {(size_t)columns * 4, (size_t)rows, 1};
  cl_int error = libraryOf(part).clEnqueueReadBufferRect(
      part.queue, part.memory, CL_FALSE, from, to, extent, stride * 4, 0,
      columns * 4, 0, out, 0, nullptr, nullptr);
  return error == CL_SUCCESS ? 0 : fail(session, "keeping activations", error);
}

} // namespace mille::opencl
