// Serves the requests of a model's kernels: programs, dispatches, temporaries.
// Must only enqueue; with a profile it may wait.
#include "runtime/opencl/Device.h"

#include <string.h>

namespace mille::opencl {
namespace {

Entry *entryOf(Part &part, const char *name, uint32_t variant) {
  for (uint32_t e = 0; e < part.entryCount; ++e)
    if (part.entries[e].variant == variant &&
        strcmp(part.entries[e].name, name) == 0)
      return &part.entries[e];
  return nullptr;
}

// While planning: makes the kernel, and checks that the device has work-groups
// of its size.
int32_t addEntry(mille_task &task, const mille_dispatch &what) {
  mille_session &session = *task.session;
  Part &part = partOf(session);
  if (int32_t code =
          checkGroup(session, what.items[0] * what.items[1] * what.items[2],
                     what.local_bytes > 0 ? what.local_bytes : 0))
    return code;
  if (entryOf(part, what.entry, task.variant))
    return 0;
  if (part.entryCount == part.entryRoom)
    return mille_task_fail(&task, MILLE_INTERNAL,
                           "a program has more than %u kernels",
                           part.entryRoom);
  cl_int error;
  cl_kernel kernel = libraryOf(part).clCreateKernel(
      part.on().programs[task.variant], what.entry, &error);
  if (!kernel)
    return fail(session, what.entry, error);
  part.entries[part.entryCount++] = {what.entry, task.variant, kernel};
  return 0;
}

// Sets two more arguments of a buffer: the bytes from one row to the next, and
// from one expert's entry to the next.
cl_int setStrides(const Library &cl, cl_kernel kernel, cl_uint &number,
                  const Experts &experts, const mille_buffer *buffer) {
  if (buffer == &experts.starts)
    return CL_SUCCESS;
  const ptrdiff_t b = buffer - experts.buffers;
  if (b < 0 || b >= (ptrdiff_t)experts.count)
    return CL_INVALID_ARG_VALUE;
  const cl_ulong strides[] = {(cl_ulong)experts.rowBytes[b],
                              (cl_ulong)experts.entryBytes[b]};
  cl_int error =
      cl.clSetKernelArg(kernel, number++, sizeof strides[0], &strides[0]);
  if (error == CL_SUCCESS)
    error = cl.clSetKernelArg(kernel, number++, sizeof strides[1], &strides[1]);
  return error;
}

cl_int setArguments(mille_task &task, cl_kernel kernel,
                    const mille_dispatch &what) {
  mille_session &session = *task.session;
  const Library &cl = libraryOf(partOf(session));
  cl_uint number = 0;
  cl_int error = CL_SUCCESS;
  for (uint32_t a = 0; what.sizes[a] && error == CL_SUCCESS; ++a) {
    if (!what.is_buffer[a]) {
      error =
          cl.clSetKernelArg(kernel, number++, what.sizes[a], what.arguments[a]);
      continue;
    }
    auto *buffer = static_cast<const mille_buffer *>(what.arguments[a]);
    error = setPlace(session, kernel, number, buffer->host, buffer->device);
    if (error == CL_SUCCESS && task.experts)
      error = setStrides(cl, kernel, number, *task.experts, buffer);
  }
  if (error == CL_SUCCESS)
    error = cl.clSetKernelArg(
        kernel, number, what.local_bytes > 0 ? what.local_bytes : 1, nullptr);
  return error;
}

// Adds the kernel's time on the device to the profile. Waits for the kernel.
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

int32_t module(mille_task &task, const Module &module) {
  mille_session &session = *task.session;
  Part &part = partOf(session);
  part.regions.startKernel();
  cl_program &program = part.on().programs[task.variant];
  if (program || session.stopped())
    return 0;
  Message message;
  mille_status status =
      programOf(*part.on().shared, {(const char *)module.bytes, module.size},
                program, message);
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
  cl_int error = setArguments(task, entry->kernel, what);
  if (error != CL_SUCCESS)
    return fail(session, what.entry, error);
  size_t items[3], global[3];
  const int64_t more = task.experts ? task.experts->moreGroups() : 0;
  for (int d = 0; d < 3; ++d) {
    items[d] = what.items[d];
    global[d] = (what.groups[d] + (d == 1 ? more : 0)) * what.items[d];
  }
  cl_event event = nullptr;
  if (int32_t code = enqueue(session, entry->kernel, what.entry, global, items,
                             session.profiling ? &event : nullptr))
    return code;
  if (event)
    measure(task, event);
  return 0;
}

int32_t allocate(mille_task &task, mille_buffer &buffer) {
  mille_session &session = *task.session;
  buffer.device =
      partOf(session).regions.reserve(session, temporaryBytes(buffer));
  return buffer.device ? 0 : session.stopped();
}

void release(mille_task &, mille_buffer &buffer) { buffer.device = 0; }

} // namespace mille::opencl
