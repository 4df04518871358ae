// Serves kernels whose arguments follow from their buffers by a table
// (mille_device_kernel): tensor maps, amounts, zeros, the number of blocks.
// Must only append.
#include "runtime/cuda/Device.h"

namespace mille::cuda {
namespace {

using ull = unsigned long long;

// A call's buffers and scalars, and the amounts that it decides.
struct Call {
  mille_session &session;
  const mille_kernel &kernel;
  void *const *arguments; // inputs, scalars, starts of experts, the out
  const Experts *experts;
  const mille_buffer *past;
  uint64_t mostRows; // of the kernel's row class

  const mille_buffer *buffer(uint32_t number) const {
    const uint32_t out = kernel.buffer_count - 1;
    const uint32_t place =
        number < out ? number
                     : out + kernel.scalar_count + (experts || past ? 1 : 0);
    return (const mille_buffer *)arguments[place];
  }
  int32_t scalar(uint32_t number) const {
    return *(const int32_t *)arguments[kernel.buffer_count - 1 + number];
  }
  uint64_t extent(uint32_t number, int32_t dimension) const {
    const mille_buffer &of = *buffer(number);
    const int32_t extent =
        dimension < of.dimensions ? of.dimension[dimension].extent : 1;
    return extent > 0 ? extent : 0;
  }
  uint64_t sequences() const { return extent(kernel.buffer_count - 1, 3); }
  uint64_t rows() const { return extent(kernel.buffer_count - 1, 1); }
  uint64_t count(uint32_t what) const {
    const bool bySequence = kernel.partition == MILLE_PARTITION_SEQUENCES;
    switch (what) {
    case MILLE_COUNT_ROWS: {
      const uint64_t all = bySequence ? rows() * sequences() : rows();
      return all < mostRows ? all : mostRows;
    }
    case MILLE_COUNT_SEQUENCES:
      return bySequence ? sequences() : 1;
    case MILLE_COUNT_QUERIES:
      return rows();
    case MILLE_COUNT_KEYS:
      return bySequence && sequences() ? extent(1, 1) / sequences() : 0;
    }
    return 1;
  }
  uint64_t of(const mille_amount &amount) const {
    const uint64_t all = count(amount.count) * amount.times;
    return amount.per > 1 ? (all + amount.per - 1) / amount.per : all;
  }
};

int typeOf(const mille_buffer &buffer) {
  if (buffer.type_code == MILLE_CODE_BFLOAT && buffer.type_bits == 16)
    return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  if (buffer.type_code == MILLE_CODE_FLOAT && buffer.type_bits == 32)
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  return CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

CUresult addTensor(const Call &call, const mille_launch_argument &what,
                   Arguments &arguments) {
  const mille_buffer &buffer = *call.buffer(what.number);
  TensorKey key = {};
  key.address = addressOf(call.session, buffer.host, buffer.device);
  key.rank = what.rank;
  key.type = typeOf(buffer);
  for (uint32_t d = 0; d < what.rank; ++d) {
    key.box[d] = what.box[d];
    key.extent[d] = call.of(what.extent[d]);
    key.stride[d] = d ? call.of(what.stride[d]) : 0;
    // A map has no dimension without elements; nothing is read there.
    key.extent[d] = key.extent[d] ? key.extent[d] : 1;
  }
  CUtensorMap map;
  const CUresult error = tensorMapOf(partOf(call.session), key, map);
  if (error != CUDA_SUCCESS)
    return error;
  return arguments.add(map) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Memory that the kernel finds filled with zeros.
CUresult addZeros(const Call &call, const mille_launch_argument &what,
                  Arguments &arguments) {
  const uint64_t bytes = call.of(what.amount);
  const uint64_t handle =
      partOf(call.session).regions.reserve(call.session, bytes);
  const CUdeviceptr address = addressOf(call.session, nullptr, handle);
  if (!handle || appendFill(call.session, address, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  return arguments.add(address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

uint64_t scratchOf(const Call &call, const mille_launch_argument &what) {
  uint64_t bytes = 1;
  for (uint32_t d = 0; d < what.rank; ++d)
    bytes *= call.of(what.extent[d]);
  return bytes;
}

// Memory that holds anything.
CUresult addScratch(const Call &call, const mille_launch_argument &what,
                    Arguments &arguments) {
  const uint64_t handle =
      partOf(call.session).regions.reserve(call.session, scratchOf(call, what));
  const CUdeviceptr address = addressOf(call.session, nullptr, handle);
  return handle && arguments.add(address) ? CUDA_SUCCESS
                                          : CUDA_ERROR_INVALID_VALUE;
}

CUresult addCounters(const Call &call, const mille_launch_argument &what,
                     Arguments &arguments) {
  Part &part = partOf(call.session);
  const Region &zeros = part.regions.zeros();
  const CUdeviceptr address = part.memory + zeros.offset;
  return call.of(what.amount) <= zeros.bytes && arguments.add(address)
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}

CUresult addOne(const Call &call, const mille_launch_argument &what,
                Arguments &arguments) {
  switch (what.kind) {
  case MILLE_ARGUMENT_ADDRESS:
  case MILLE_ARGUMENT_PAST:
  case MILLE_ARGUMENT_STARTS: {
    const mille_buffer &buffer =
        what.kind == MILLE_ARGUMENT_STARTS ? call.experts->starts
        : what.kind == MILLE_ARGUMENT_PAST ? *call.past
                                           : *call.buffer(what.number);
    const CUdeviceptr address =
        addressOf(call.session, buffer.host, buffer.device);
    return address && arguments.add(address) ? CUDA_SUCCESS
                                             : CUDA_ERROR_INVALID_VALUE;
  }
  case MILLE_ARGUMENT_TENSOR:
    return addTensor(call, what, arguments);
  case MILLE_ARGUMENT_AMOUNT: {
    const uint64_t value = call.of(what.amount);
    if (value > INT32_MAX)
      return CUDA_ERROR_INVALID_VALUE;
    return arguments.add((int32_t)value) ? CUDA_SUCCESS
                                         : CUDA_ERROR_INVALID_VALUE;
  }
  case MILLE_ARGUMENT_SCALAR:
    return arguments.add(call.scalar(what.number)) ? CUDA_SUCCESS
                                                   : CUDA_ERROR_INVALID_VALUE;
  case MILLE_ARGUMENT_SCRATCH:
    return addScratch(call, what, arguments);
  case MILLE_ARGUMENT_COUNTERS:
    return addCounters(call, what, arguments);
  case MILLE_ARGUMENT_ZEROS:
    return addZeros(call, what, arguments);
  }
  return CUDA_ERROR_INVALID_VALUE;
}

// The most shared memory that a launch gives a block: of kernels that are
// `apart` more than half of a unit's, all of which a block could have.
uint32_t mostBytes(const Part &part, const mille_device_kernel &kernel) {
  const uint32_t wide = (uint32_t)part.on().info().local_bytes / 2 + 1024;
  return kernel.apart && wide > kernel.shared_bytes ? wide
                                                    : kernel.shared_bytes;
}

// Blocks of the launch: a cluster for each tile, or as many clusters as the
// device holds at a time. isShort: all of its work is done at a time.
uint64_t blocksOf(const Call &call, const mille_device_kernel &kernel,
                  bool &isShort) {
  constexpr uint64_t usualBlocksPerUnit = 8;
  uint64_t tiles = 1;
  for (const mille_amount &amount : kernel.tiles)
    tiles *= call.of(amount);
  const uint64_t cluster = kernel.cluster ? kernel.cluster : 1;
  const uint64_t units = partOf(call.session).on().info().units;
  const uint64_t perUnit =
      kernel.blocks_per_unit ? kernel.blocks_per_unit : usualBlocksPerUnit;
  const uint64_t most = units * perUnit / cluster;
  isShort = tiles <= most;
  if (kernel.blocks_per_unit && !isShort)
    tiles = most;
  if (kernel.apart && tiles < units && 2 * tiles > units)
    tiles = units;
  return tiles * cluster;
}

// Of a block. Every second launch that is `apart` is wide: two of its blocks do
// not fit on a unit, and beside each only one of the launches before and after.
uint32_t sharedBytesOf(Part &part, const mille_device_kernel &kernel,
                       uint64_t blocks) {
  const bool wide = kernel.apart && blocks <= part.on().info().units &&
                    part.launchesApart++ % 2 == 0;
  return wide ? mostBytes(part, kernel) : kernel.shared_bytes;
}

// While planning: loads the kernel and counts what a launch appends.
int32_t planLaunch(mille_task &task, const Call &call,
                   const mille_device_kernel &kernel) {
  mille_session &session = *task.session;
  Part &part = partOf(session);
  mille_package &package = *session.package;
  Current current(part.on());
  CUmodule module;
  mille_status status = moduleOf(package, part.on(), kernel.cubin, kernel.ptx,
                                 call.kernel.name, module);
  if (status != MILLE_OK)
    return mille_task_fail(&task, status, "%s", package.message().text);
  if (!entryOf(part, kernel.entry, task.variant)) {
    int32_t code = addEntry(task, module, kernel.entry, kernel.threads,
                            mostBytes(part, kernel));
    if (!code)
      code = setCarveout(session, call.kernel.name,
                         entryOf(part, kernel.entry, task.variant)->function);
    if (code)
      return code;
  }
  // Larger clusters are not on every device.
  constexpr uint32_t portableCluster = 8;
  if (kernel.cluster > portableCluster)
    if (const CUresult error = part.on().cuda.cuFuncSetAttribute(
            entryOf(part, kernel.entry, task.variant)->function,
            CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1))
      return fail(session, call.kernel.name, error);
  Arguments none;
  for (uint32_t a = 0; a < kernel.argument_count; ++a) {
    const mille_launch_argument &what = kernel.arguments[a];
    none.end +=
        what.kind == MILLE_ARGUMENT_TENSOR ? 2 * sizeof(CUtensorMap) : 8;
    if (what.kind == MILLE_ARGUMENT_TENSOR)
      ++part.tensorCount;
    if (what.kind == MILLE_ARGUMENT_SCRATCH)
      part.regions.reserve(session, scratchOf(call, what));
    if (what.kind == MILLE_ARGUMENT_COUNTERS)
      part.regions.needZeros(call.of(what.amount));
    if (what.kind != MILLE_ARGUMENT_ZEROS)
      continue;
    part.regions.reserve(session, call.of(what.amount));
    appendFill(session, 0, 0);
  }
  if (part.tensorCount > part.tensorMost)
    part.tensorMost = part.tensorCount;
  return append(session, {}, none);
}

int32_t launchOne(mille_task &task, const Call &call,
                  const mille_device_kernel &kernel) {
  mille_session &session = *task.session;
  Part &part = partOf(session);
  bool isShort;
  const uint64_t blocks = blocksOf(call, kernel, isShort);
  if (!blocks)
    return 0;
  const Entry *entry = entryOf(part, kernel.entry, task.variant);
  if (!entry || blocks > INT32_MAX)
    return failWith(session, MILLE_INTERNAL,
                    "kernel %s was not planned for %llu blocks",
                    call.kernel.name, (ull)blocks);
  Arguments values;
  for (uint32_t a = 0; a < kernel.argument_count; ++a) {
    const CUresult error = addOne(call, kernel.arguments[a], values);
    if (error != CUDA_SUCCESS)
      return session.stopped() ? session.stopped()
                               : fail(session, call.kernel.name, error);
  }
  return append(session,
                {entry->function,
                 {(uint32_t)blocks, 1, 1},
                 {kernel.threads, 1, 1},
                 sharedBytesOf(part, kernel, blocks),
                 // A long one took longer where it began early.
                 kernel.overlaps && isShort},
                values);
}

} // namespace

int32_t launch(mille_task &task, const mille_device_kernel &kernel,
               void *const *arguments) {
  mille_session &session = *task.session;
  Part &part = partOf(session);
  if (int32_t code = session.stopped())
    return code;
  const mille_kernel &of = *session.package->model->kernels[task.variant / 2];
  // Planning calls the class of few rows with the most rows of all.
  const bool few = session.planning && task.variant % 2 == 0;
  const Call call = {session,      of,        arguments,
                     task.experts, task.past, few ? of.few_rows : UINT64_MAX};
  part.regions.startKernel();
  if (session.planning) {
    int32_t code = 0;
    for (const mille_device_kernel *one = &kernel; !code && one;
         one = one->then)
      code = planLaunch(task, call, *one);
    if (!code && kernel.of_long)
      code = planLaunch(task, call, *kernel.of_long);
    session.failed.change(0, code);
    return code;
  }
  if (part.replayed)
    return 0;
  const bool isLong = kernel.of_long && call.of({MILLE_COUNT_QUERIES, 1, 1}) >
                                            kernel.most_queries;
  int32_t code = 0;
  for (const mille_device_kernel *one = isLong ? kernel.of_long : &kernel;
       !code && one; one = one->then)
    code = launchOne(task, call, *one);
  return code;
}

} // namespace mille::cuda
