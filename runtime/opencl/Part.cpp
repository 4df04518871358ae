// A session's part of a device: its queue, its memory, and where buffers lie in
// it. Must only enqueue between the start and the end of a run.
#include "runtime/OpenDevice.h"
#include "runtime/opencl/Device.h"

#include <string.h>

namespace mille::opencl {
namespace {

using ull = unsigned long long;

constexpr uint32_t entriesOfAKernel = 4; // the most dispatches per row class
constexpr uint32_t enqueuedAtMost = 16;  // commands before a flush

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
  const DevicePlace place = part.regions.placeOf(session, address, temporary);
  if (place.in == DevicePlace::nowhere)
    return CL_INVALID_MEM_OBJECT;
  cl_mem memory = part.memory;
  cl_ulong first = place.offset;
  if (place.in == DevicePlace::ofWeights) {
    const WeightBuffer *weights = weightBufferOf(part.on(), first);
    if (!weights)
      return CL_INVALID_MEM_OBJECT;
    memory = weights->memory;
    first -= weights->first;
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

//===-- A session ---------------------------------------------------------===//

mille_status enter(mille_session &session, mille::Device &base) {
  Device &device = static_cast<Device &>(base);
  mille_package &package = *session.package;
  const uint32_t room =
      (package.model->kernel_count + 1) * 2 * entriesOfAKernel;
  const mille_status status =
      makePart<Part>(session, base, room * sizeof(Entry));
  if (status != MILLE_OK)
    return status;
  Part *part = &partOf(session);
  part->entryRoom = room;
  cl_int error;
  part->queue = device.library().clCreateCommandQueue(
      device.shared->context, device.shared->found.device,
      CL_QUEUE_PROFILING_ENABLE, &error);
  if (!part->queue)
    return package.message().set(MILLE_NO_DEVICE, "%s gives no queue: %s",
                                 device.info().name, ErrorName(error).text);
  return MILLE_OK;
}

void plan(mille_session &session) { partOf(session).regions.plan(session); }

static cl_int clear(const Part &part, uint64_t offset, uint64_t bytes) {
  const cl_uchar zero = 0;
  return bytes ? libraryOf(part).clEnqueueFillBuffer(part.queue, part.memory,
                                                     &zero, sizeof zero, offset,
                                                     bytes, 0, nullptr, nullptr)
               : CL_SUCCESS;
}

static mille_status uploadTables(mille_session &session, Part &part) {
  cl_int error = CL_SUCCESS;
  for (uint32_t t = 0; t < part.regions.tables() && error == CL_SUCCESS; ++t) {
    const Region &table = part.regions.table(t);
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
  part.regions.layOut(session.deviceStates);
  const uint64_t bytes = part.regions.bytes();
  cl_int error = CL_SUCCESS;
  if (bytes <= device.info().largest_buffer)
    part.memory = device.library().clCreateBuffer(
        device.shared->context, CL_MEM_READ_WRITE, bytes, nullptr, &error);
  if (!part.memory)
    return refuseMemory(device, "the session's activations need", bytes, error,
                        session.package->message());
  if (mille_status status = uploadTables(session, part))
    return status;
  for (uint32_t s = 0; s < DeviceRegions::stateRegions; ++s) {
    const Region &states = part.regions.states(s);
    const cl_int code = clear(part, states.offset, states.bytes);
    if (code != CL_SUCCESS)
      return session.package->message().set(
          MILLE_NO_DEVICE, "%s takes no states: %s", device.info().name,
          ErrorName(code).text);
  }
  const Memory &memory = session.package->memory;
  const uint64_t given = part.regions.givenMost();
  part.given = (char *)memory.allocate(memory.user, given + 64, 64);
  if (!part.given)
    return session.package->message().set(
        MILLE_OUT_OF_MEMORY,
        "what a device is given in a run needs "
        "%llu bytes but memory was refused",
        (ull)given);
  part.regions.setGiven(part.given);
  session.package->log("session on %s: %llu bytes of its memory, %u kernels",
                       device.info().name, (ull)bytes, part.entryCount);
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
  if (part.given)
    memory.release(memory.user, part.given);
  part.regions.release(memory);
  memory.release(memory.user, part.entries);
  memory.release(memory.user, &part);
  session.part = nullptr;
}

//===-- A run -------------------------------------------------------------===//

int32_t begin(mille_session &session) {
  Part &part = partOf(session);
  part.regions.place(session);
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

int32_t submit(mille_session &session) {
  Part &part = partOf(session);
  cl_int error = CL_SUCCESS;
  for (uint32_t r = 1; r < part.regions.count(); ++r) {
    const Region &region = part.regions[r];
    if (error == CL_SUCCESS && region.written && region.bytes)
      error = libraryOf(part).clEnqueueReadBuffer(
          part.queue, part.memory, CL_FALSE, region.offset, region.bytes,
          const_cast<char *>(region.begin), 0, nullptr, nullptr);
  }
  if (error == CL_SUCCESS)
    error = libraryOf(part).clFlush(part.queue);
  return error == CL_SUCCESS ? session.stopped()
                             : fail(session, "reading outputs", error);
}

int32_t finish(mille_session &session) {
  Part &part = partOf(session);
  const cl_int error = libraryOf(part).clFinish(part.queue);
  return error == CL_SUCCESS ? session.stopped()
                             : fail(session, "reading outputs", error);
}

//===-- What the host does between kernels --------------------------------===//

int32_t give(mille_session &session, const void *memory, uint64_t bytes) {
  Part &part = partOf(session);
  const char *copy = part.regions.copyOf(session, memory, bytes);
  if (!copy)
    return session.stopped();
  Region *region = part.regions.of(memory);
  if (!region)
    return fail(session, "writing activations", CL_INVALID_MEM_OBJECT);
  uint64_t offset = region->offset + ((const char *)memory - region->begin);
  cl_int error = libraryOf(part).clEnqueueWriteBuffer(
      part.queue, part.memory, CL_FALSE, offset, bytes, copy, 0, nullptr,
      nullptr);
  if (region != &part.regions[0])
    region->written = false; // an output whose values the host has already
  return error == CL_SUCCESS ? 0 : fail(session, "writing activations", error);
}

int32_t keep(mille_session &session, const float *input, int64_t stride,
             int64_t rows, int64_t columns, float *out) {
  if (session.planning)
    return 0;
  Part &part = partOf(session);
  Region *region = part.regions.of(input);
  if (!region)
    return fail(session, "keeping activations", CL_INVALID_MEM_OBJECT);
  if (Region *output = part.regions.of(out))
    output->written = false; // the read below brings it, one entry per call
  uint64_t offset = region->offset + ((const char *)input - region->begin);
  const size_t from[3] = {offset, 0, 0}, to[3] = {0, 0, 0};
  const size_t extent[3] = {(size_t)columns * 4, (size_t)rows, 1};
  cl_int error = libraryOf(part).clEnqueueReadBufferRect(
      part.queue, part.memory, CL_FALSE, from, to, extent, stride * 4, 0,
      columns * 4, 0, out, 0, nullptr, nullptr);
  return error == CL_SUCCESS ? 0 : fail(session, "keeping activations", error);
}

int32_t fetch(mille_session &session, const void *address, uint64_t temporary,
              void *to, uint64_t bytes) {
  Part &part = partOf(session);
  const DevicePlace place = part.regions.placeOf(session, address, temporary);
  const cl_int error = place.in == DevicePlace::ofSession
                           ? libraryOf(part).clEnqueueReadBuffer(
                                 part.queue, part.memory, CL_TRUE, place.offset,
                                 bytes, to, 0, nullptr, nullptr)
                           : CL_INVALID_MEM_OBJECT;
  return error == CL_SUCCESS ? 0 : fail(session, "reading activations", error);
}

//===-- States between runs -----------------------------------------------===//

// The queue is in order, so copies and zeros are not waited for.
mille_status moveState(mille_session &session, const StateMove &what) {
  Part &part = partOf(session);
  const Library &cl = libraryOf(part);
  auto offsetOf = [&](const void *address) {
    return part.regions.placeOf(session, address, 0).offset;
  };
  const uint64_t state = offsetOf(what.state);
  cl_int error = CL_SUCCESS;
  switch (what.kind) {
  case StateMove::read:
    error = cl.clEnqueueReadBuffer(part.queue, part.memory, CL_TRUE, state,
                                   what.bytes, what.other, 0, nullptr, nullptr);
    break;
  case StateMove::write:
    error =
        cl.clEnqueueWriteBuffer(part.queue, part.memory, CL_TRUE, state,
                                what.bytes, what.other, 0, nullptr, nullptr);
    break;
  case StateMove::copy:
    error = cl.clEnqueueCopyBuffer(part.queue, part.memory, part.memory,
                                   offsetOf(what.other), state, what.bytes, 0,
                                   nullptr, nullptr);
    break;
  case StateMove::clear:
    error = clear(part, state, what.bytes);
    break;
  }
  if (error == CL_SUCCESS)
    return MILLE_OK;
  return session.message.set(MILLE_NO_DEVICE, "%s: moving states: %s",
                             part.on().info().name, ErrorName(error).text);
}

} // namespace mille::opencl
