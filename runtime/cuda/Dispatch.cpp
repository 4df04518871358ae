// Serves kernels whose host code computes the arguments: Halide's.
// Must only append.
#include "runtime/cuda/Device.h"

namespace mille::cuda {
namespace {

// The bytes from one row of a buffer to the next and from one expert's entry to
// the next. `starts` has none.
bool addSteps(const Experts &experts, const mille_buffer *buffer,
              Arguments &arguments) {
  if (buffer == &experts.starts)
    return true;
  const ptrdiff_t b = buffer - experts.buffers;
  return b >= 0 && b < (ptrdiff_t)experts.count &&
         arguments.add((uint64_t)experts.rowBytes[b]) &&
         arguments.add((uint64_t)experts.entryBytes[b]);
}

// An address for each buffer and the bytes of each scalar, in order; then, with
// experts, two steps for each buffer.
bool addAll(mille_task &task, const mille_dispatch &what,
            Arguments &arguments) {
  for (uint32_t a = 0; what.sizes[a]; ++a) {
    if (!what.is_buffer[a]) {
      if (!arguments.add(what.arguments[a], (uint32_t)what.sizes[a]))
        return false;
      continue;
    }
    auto *buffer = static_cast<const mille_buffer *>(what.arguments[a]);
    const CUdeviceptr address =
        addressOf(*task.session, buffer->host, buffer->device);
    if (!address || !arguments.add(address))
      return false;
  }
  for (uint32_t a = 0; task.experts && what.sizes[a]; ++a)
    if (what.is_buffer[a] &&
        !addSteps(*task.experts,
                  static_cast<const mille_buffer *>(what.arguments[a]),
                  arguments))
      return false;
  return true;
}

int32_t planDispatch(mille_task &task, const mille_dispatch &what) {
  Part &part = partOf(*task.session);
  const uint64_t threads = what.items[0] * what.items[1] * what.items[2];
  const uint64_t shared = what.local_bytes > 0 ? what.local_bytes : 0;
  if (!entryOf(part, what.entry, task.variant))
    if (int32_t code = addEntry(task, part.module, what.entry, threads, shared))
      return code;
  Arguments none;
  for (uint32_t a = 0; what.sizes[a]; ++a)
    none.end += 8 + (task.experts && what.is_buffer[a] ? 16 : 0);
  return append(*task.session, {}, none);
}

} // namespace

int32_t module(mille_task &task, const Module &module) {
  mille_session &session = *task.session;
  Part &part = partOf(session);
  part.regions.startKernel();
  if (!session.planning || session.stopped())
    return 0;
  mille_package &package = *session.package;
  const bool text = module.kind == MILLE_MODULE_PTX;
  const uint32_t kernel = task.variant / 2;
  const char *name = kernel < package.model->kernel_count
                         ? package.model->kernels[kernel]->name
                         : "of the runtime";
  Current current(part.on());
  mille_status status =
      moduleOf(package, part.on(), text ? nullptr : module.bytes,
               text ? (const char *)module.bytes : nullptr, name, part.module);
  if (status == MILLE_OK)
    return 0;
  session.failed.change(0, status);
  return mille_task_fail(&task, status, "%s", package.message().text);
}

int32_t dispatch(mille_task &task, const mille_dispatch &what) {
  mille_session &session = *task.session;
  if (int32_t code = session.stopped())
    return code;
  if (session.planning) {
    Current current(partOf(session).on());
    const int32_t code = planDispatch(task, what);
    session.failed.change(0, code);
    return code;
  }
  if (partOf(session).replayed || !what.groups[0] || !what.groups[1] ||
      !what.groups[2])
    return 0;
  const Entry *entry = entryOf(partOf(session), what.entry, task.variant);
  Arguments arguments;
  if (!entry || !addAll(task, what, arguments))
    return failWith(session, MILLE_INTERNAL,
                    "kernel %s was not planned with these arguments",
                    what.entry);
  Kernel kernel = {entry->function, {}, {}, 0};
  const int64_t more = task.experts ? task.experts->moreGroups() : 0;
  for (int d = 0; d < 3; ++d) {
    kernel.blocks[d] = (uint32_t)(what.groups[d] + (d == 1 ? more : 0));
    kernel.threads[d] = (uint32_t)what.items[d];
  }
  kernel.sharedBytes = what.local_bytes > 0 ? (uint32_t)what.local_bytes : 0;
  return append(session, kernel, arguments);
}

int32_t allocate(mille_task &task, mille_buffer &buffer) {
  mille_session &session = *task.session;
  buffer.device =
      partOf(session).regions.reserve(session, temporaryBytes(buffer));
  return buffer.device ? 0 : session.stopped();
}

void release(mille_task &, mille_buffer &buffer) { buffer.device = 0; }

} // namespace mille::cuda
