// A session's part of a device: its queue, its memory, the places of buffers in it,
// and its kernels' launches. Must only enqueue while a run is in its layers.
#include "runtime/opencl/Device.h"

#include <string.h>

namespace mille::opencl {
namespace {

using ull = unsigned long long;

constexpr uint64_t alignment = 1024;        // of what is in the memory
constexpr uint32_t entriesOfAKernel = 4;    // dispatches of one row class
constexpr uint32_t enqueuedAtMost = 16;     // before the device hears of it

const Library &libraryOf(const Part &part) { return part.on().library(); }

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

uint64_t bytesOf(const mille_tensor_info &info, const Sizes &sizes) {
  uint64_t elements = 0;
  countElements(info, sizes, elements);
  return elements * 4;
}

uint64_t rounded(uint64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// The region that holds an address; null: the weights', or the host's own.
Region *regionOf(Part &part, const void *memory) {
  const char *address = (const char *)memory;
  for (uint32_t r = 0; r < part.regionCount; ++r) {
    Region &region = part.regions[r];
    if (address >= region.begin && address < region.begin + region.bytes)
      return &region;
  }
  return nullptr;
}

// Where the arena, inputs and outputs of a run lie on the host.
void placeRegions(mille_session &session, const Sizes &sizes) {
  const mille_model &model = *session.package->model;
  Part &part = partOf(session);
  Region *region = part.regions;
  *region++ = {session.arena,
               session.run.padded_rows * model.arena_bytes_per_row, 0, true};
  for (uint32_t i = 0; i < model.input_count; ++i, ++region) {
    region->begin = (const char *)session.inputs[i];
    region->bytes = bytesOf(model.inputs[i], sizes);
    region->written = false;
  }
  for (uint32_t o = 0; o < model.output_count; ++o, ++region) {
    region->begin = (const char *)session.run.outputs[o];
    region->bytes = bytesOf(model.outputs[o], sizes);
    region->written = true; // until the host says otherwise
  }
}

// Their places on the device, for the largest run.
void layOut(const mille_session &session, Part &part) {
  const mille_model &model = *session.package->model;
  uint64_t rows = 0, end;
  paddedRows(model, session.most, rows);
  part.regions[0].offset = 0;
  end = rounded(rows * model.arena_bytes_per_row);
  for (uint32_t r = 1; r < part.regionCount; ++r) {
    bool input = r <= model.input_count;
    part.regions[r].offset = end;
    end += rounded(bytesOf(input ? model.inputs[r - 1]
                                 : model.outputs[r - 1 - model.input_count],
                           session.most));
  }
  part.temporaries = end;
  part.bytes = end + part.most;
}

Entry *entryOf(Part &part, const char *name, uint32_t variant) {
  for (uint32_t e = 0; e < part.entryCount; ++e)
    if (part.entries[e].variant == variant &&
        strcmp(part.entries[e].name, name) == 0)
      return &part.entries[e];
  return nullptr;
}

// Planning: the kernel is made, and what it asks for compared with what there is.
int32_t addEntry(mille_task &task, const mille_dispatch &what) {
  mille_session &session = *task.session;
  Part &part = partOf(session);
  const mille_device &info = part.on().info();
  uint64_t items = what.items[0] * what.items[1] * what.items[2];
  if (items > info.group_items)
    return mille_task_fail(&task, MILLE_NO_DEVICE,
                           "%s has work-groups of up to %llu items but a kernel "
                           "needs %llu",
                           info.name, (ull)info.group_items, (ull)items);
  if ((uint64_t)what.local_bytes > info.local_bytes)
    return mille_task_fail(&task, MILLE_OUT_OF_MEMORY,
                           "%s has %llu bytes of local memory but a kernel needs "
                           "%lld",
                           info.name, (ull)info.local_bytes,
                           (long long)what.local_bytes);
  if (entryOf(part, what.entry, task.variant))
    return 0;
  if (part.entryCount == part.entryRoom)
    return mille_task_fail(&task, MILLE_INTERNAL,
                           "a program has more than %u kernels", part.entryRoom);
  cl_int error;
  cl_kernel kernel = libraryOf(part).clCreateKernel(
      part.on().programs[task.variant], what.entry, &error);
  if (!kernel)
    return fail(session, what.entry, error);
  part.entries[part.entryCount++] = {what.entry, task.variant, kernel};
  return 0;
}

// Two arguments: the memory object, and the place of the first element in it, in bytes.
cl_int setBuffer(mille_session &session, cl_kernel kernel, cl_uint &number,
                 const mille_buffer &buffer) {
  Part &part = partOf(session);
  Device &device = part.on();
  const Library &cl = device.library();
  cl_mem memory = part.memory;
  uint64_t offset = 0;
  const char *tensors = session.package->weights.tensors;
  const char *address = (const char *)buffer.host;
  if (buffer.device) {
    offset = buffer.device - 1;
  } else if (Region *region = regionOf(part, address)) {
    offset = region->offset + (address - region->begin);
  } else if (const WeightBuffer *weights =
                 weightBufferOf(device, (uint64_t)(address - tensors))) {
    memory = weights->memory;
    offset = address - tensors - weights->first;
  } else {
    return CL_INVALID_MEM_OBJECT;
  }
  cl_ulong first = offset;
  cl_int error = cl.clSetKernelArg(kernel, number++, sizeof memory, &memory);
  if (error == CL_SUCCESS)
    error = cl.clSetKernelArg(kernel, number++, sizeof first, &first);
  return error;
}

cl_int setArguments(mille_session &session, cl_kernel kernel,
                    const mille_dispatch &what) {
  const Library &cl = libraryOf(partOf(session));
  cl_uint number = 0;
  cl_int error = CL_SUCCESS;
  for (uint32_t a = 0; what.sizes[a] && error == CL_SUCCESS; ++a) {
    if (what.is_buffer[a])
      error = setBuffer(session, kernel, number,
                        *static_cast<const mille_buffer *>(what.arguments[a]));
    else
      error = cl.clSetKernelArg(kernel, number++, what.sizes[a],
                                what.arguments[a]);
  }
  if (error == CL_SUCCESS)
    error = cl.clSetKernelArg(kernel, number,
                              what.local_bytes > 0 ? what.local_bytes : 1,
                              nullptr);
  return error;
}

// Time on the device, for the profile; waits.
void measure(mille_task &task, cl_event event) {
  const Library &cl = libraryOf(partOf(*task.session));
  cl_ulong begin = 0, end = 0;
  cl.clWaitForEvents(1, &event);
  cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin,
                             &begin, nullptr);
  cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end,
                             nullptr);
  cl.clReleaseEvent(event);
  task.nanoseconds[task.variant / 2] += end - begin;
}

} // namespace

//===-- A session ---------------------------------------------------------===//

mille_status enter(mille_session &session, mille::Device &base) {
  Device &device = static_cast<Device &>(base);
  mille_package &package = *session.package;
  const mille_model &model = *package.model;
  Part *part = package.memory.make<Part>();
  Bytes sum;
  uint32_t regions = 1 + model.input_count + model.output_count;
  uint32_t entries = (model.kernel_count + 1) * 2 * entriesOfAKernel;
  sum.place(regions, sizeof(Region));
  uint64_t second = sum.place(entries, sizeof(Entry));
  char *memory =
      (char *)(part ? package.memory.allocate(package.memory.user, sum.value, 64)
                    : nullptr);
  if (!memory) {
    if (part)
      package.memory.release(package.memory.user, part);
    return package.message.set(MILLE_OUT_OF_MEMORY,
                               "a session on a device needs %llu bytes but "
                               "memory was refused",
                               (ull)(sum.value + sizeof(Part)));
  }
  memset(memory, 0, sum.value);
  part->device = &device;
  part->regions = (Region *)memory;
  part->regionCount = regions;
  part->entries = (Entry *)(memory + second);
  part->entryRoom = entries;
  session.part = part;
  cl_int error;
  part->queue = device.library().clCreateCommandQueue(
      device.shared->context, device.shared->found.device, CL_QUEUE_PROFILING_ENABLE, &error);
  if (!part->queue)
    return package.message.set(MILLE_NO_DEVICE, "%s gives no queue: %s",
                               device.info().name, ErrorName(error).text);
  return MILLE_OK;
}

mille_status settle(mille_session &session) {
  Part &part = partOf(session);
  Device &device = part.on();
  layOut(session, part);
  cl_int error = CL_SUCCESS;
  if (part.bytes <= device.info().largest_buffer)
    part.memory = device.library().clCreateBuffer(
        device.shared->context, CL_MEM_READ_WRITE, part.bytes, nullptr, &error);
  if (!part.memory)
    return refuseMemory(device, "the session's activations need", part.bytes, error,
                        session.package->message);
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
  const Memory &memory = session.package->memory;
  memory.release(memory.user, part.regions);
  memory.release(memory.user, &part);
  session.part = nullptr;
}

//===-- A run -------------------------------------------------------------===//

int32_t begin(mille_session &session, const Sizes &sizes) {
  Part &part = partOf(session);
  placeRegions(session, sizes);
  cl_int error = CL_SUCCESS;
  for (uint32_t i = 0; i < session.package->model->input_count; ++i) {
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
  cl_int error = CL_SUCCESS;
  for (uint32_t r = 1; r < part.regionCount && !session.stopped(); ++r) {
    const Region &region = part.regions[r];
    if (error == CL_SUCCESS && region.written && region.bytes)
      error = libraryOf(part).clEnqueueReadBuffer(
          part.queue, part.memory, CL_FALSE, region.offset, region.bytes,
          const_cast<char *>(region.begin), 0, nullptr, nullptr);
  }
  cl_int last = libraryOf(part).clFinish(part.queue);
  error = error == CL_SUCCESS ? last : error;
  return error == CL_SUCCESS ? 0 : fail(session, "reading outputs", error);
}

//===-- Kernels -----------------------------------------------------------===//

int32_t source(mille_task &task, const char *text) {
  mille_session &session = *task.session;
  Part &part = partOf(session);
  part.used = 0;
  cl_program &program = part.on().programs[task.variant];
  if (program || session.stopped())
    return 0;
  Message message;
  mille_status status = programOf(*part.on().shared, text, program, message);
  if (status == MILLE_OK)
    return 0;
  session.failed.change(0, status);
  return mille_task_fail(&task, status, "%s", message.text);
}

int32_t dispatch(mille_task &task, const mille_dispatch &what) {
  mille_session &session = *task.session;
  Part &part = partOf(session);
  if (int32_t code = session.stopped())
    return code;
  if (session.planning) {
    int32_t code = addEntry(task, what);
    session.failed.change(0, code);
    return code;
  }
  if (!what.groups[0] || !what.groups[1] || !what.groups[2])
    return 0;
  Entry *entry = entryOf(part, what.entry, task.variant);
  if (!entry)
    return fail(session, what.entry, CL_INVALID_KERNEL_NAME);
  cl_int error = setArguments(session, entry->kernel, what);
  if (error != CL_SUCCESS)
    return fail(session, what.entry, error);
  size_t items[3], global[3];
  for (int d = 0; d < 3; ++d) {
    items[d] = what.items[d];
    global[d] = what.groups[d] * what.items[d];
  }
  const Library &cl = libraryOf(part);
  cl_event event = nullptr;
  error = cl.clEnqueueNDRangeKernel(part.queue, entry->kernel, 3, nullptr, global,
                                    items, 0, nullptr,
                                    session.profiling ? &event : nullptr);
  if (error != CL_SUCCESS)
    return fail(session, what.entry, error);
  if (event)
    measure(task, event);
  if (++part.pending % enqueuedAtMost == 0)
    cl.clFlush(part.queue);
  return 0;
}

// Temporaries of one kernel lie one after the other; the next kernel's begin anew,
// as the queue is in order.
int32_t allocate(mille_task &task, mille_buffer &buffer) {
  Part &part = partOf(*task.session);
  uint64_t elements = 1;
  for (int32_t d = 0; d < buffer.dimensions; ++d)
    elements *= buffer.dimension[d].extent > 0 ? buffer.dimension[d].extent : 0;
  uint64_t begin = part.used;
  part.used += rounded(elements * ((buffer.type_bits + 7) / 8));
  if (task.session->planning)
    part.most = part.used > part.most ? part.used : part.most;
  else if (part.temporaries + part.used > part.bytes)
    return mille_task_fail(&task, MILLE_INTERNAL,
                           "a kernel needs %llu bytes of device memory but "
                           "planned with %llu",
                           (ull)part.used, (ull)part.most);
  buffer.device = part.temporaries + begin + 1;
  return 0;
}

void release(mille_task &, mille_buffer &buffer) { buffer.device = 0; }

//===-- What the host does between kernels --------------------------------===//

int32_t take(mille_session &session, const void *memory, uint64_t bytes) {
  Part &part = partOf(session);
  Region *region = regionOf(part, memory);
  if (!region || !region->written)
    return 0;
  uint64_t offset = region->offset + ((const char *)memory - region->begin);
  cl_int error = libraryOf(part).clEnqueueReadBuffer(
      part.queue, part.memory, CL_TRUE, offset, bytes, const_cast<void *>(memory),
      0, nullptr, nullptr);
  return error == CL_SUCCESS ? 0 : fail(session, "reading activations", error);
}

int32_t give(mille_session &session, const void *memory, uint64_t bytes) {
  Part &part = partOf(session);
  Region *region = regionOf(part, memory);
  if (!region)
    return 0;
  uint64_t offset = region->offset + ((const char *)memory - region->begin);
  cl_int error = libraryOf(part).clEnqueueWriteBuffer(
      part.queue, part.memory, CL_TRUE, offset, bytes, memory, 0, nullptr,
      nullptr);
  if (region != part.regions)
    region->written = false; // an output that is here
  return error == CL_SUCCESS ? 0 : fail(session, "writing activations", error);
}

int32_t keep(mille_session &session, const float *input, int64_t stride,
             int64_t rows, int64_t columns, float *out) {
  Part &part = partOf(session);
  Region *region = regionOf(part, input);
  if (!region)
    return fail(session, "keeping activations", CL_INVALID_MEM_OBJECT);
  if (Region *output = regionOf(part, out))
    output->written = false; // it is read here, entry by entry
  uint64_t offset = region->offset + ((const char *)input - region->begin);
  const size_t from[3] = {offset, 0, 0}, to[3] = {0, 0, 0};
  const size_t extent[3] = {(size_t)columns * 4, (size_t)rows, 1};
  cl_int error = libraryOf(part).clEnqueueReadBufferRect(
      part.queue, part.memory, CL_FALSE, from, to, extent, stride * 4, 0,
      columns * 4, 0, out, 0, nullptr, nullptr);
  return error == CL_SUCCESS ? 0 : fail(session, "keeping activations", error);
}

} // namespace mille::opencl
