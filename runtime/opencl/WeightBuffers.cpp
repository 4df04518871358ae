// Puts a package's weights on a device, in as few buffers as its largest buffer
// allows. Must not split a tensor.
#include "runtime/opencl/Device.h"

namespace mille::opencl {
namespace {

// The places in the weights data where tensors begin and end.
struct Places {
  const mille_model &model;
  const uint64_t *table;
  uint64_t end;

  Places(const mille_model &model, const Weights &weights)
      : model(model), table(weights.table),
        end(weights.data + weights.bytes - weights.tensors) {}

  // The end of the data if it is at most `most`; else the last beginning of a
  // tensor after `first` and up to `most`; 0 if there is none.
  uint64_t lastUpTo(uint64_t first, uint64_t most) const {
    if (end <= most)
      return end;
    uint64_t last = 0;
    eachPlace(model, table, [&](uint64_t i, uint64_t) {
      if (table[i] > first && table[i] <= most && table[i] > last)
        last = table[i];
      return true;
    });
    return last;
  }
  uint64_t nextAfter(uint64_t first) const {
    uint64_t next = end;
    eachPlace(model, table, [&](uint64_t i, uint64_t) {
      if (table[i] > first && table[i] < next)
        next = table[i];
      return true;
    });
    return next;
  }
  // Whether a tensor begins before `at` and ends after it.
  bool cutsOne(uint64_t at) const {
    return !eachPlace(model, table, [&](uint64_t i, uint64_t bytes) {
      return table[i] >= at || bytes <= at - table[i];
    });
  }
};

// Cuts the weights into buffers. If `buffers` is null, it only counts them.
mille_status cut(const Device &device, const Places &places,
                 WeightBuffer *buffers, uint32_t &count, Message &message) {
  const uint64_t most = device.info().largest_buffer;
  count = 0;
  for (uint64_t first = 0; first < places.end; ++count) {
    uint64_t last = places.lastUpTo(
        first, most > UINT64_MAX - first ? UINT64_MAX : first + most);
    if (!last)
      return refuseMemory(device, "one of the weights needs",
                          places.nextAfter(first) - first, CL_SUCCESS, message);
    if (places.cutsOne(last))
      return message.set(
          MILLE_BAD_WEIGHTS,
          "a tensor begins at %llu of the weights, where another "
          "one has not ended",
          (unsigned long long)last);
    if (buffers)
      buffers[count] = {nullptr, first, last - first};
    first = last;
  }
  return MILLE_OK;
}

cl_int fill(const Device &device, const char *tensors) {
  cl_int error = CL_SUCCESS;
  for (uint32_t i = 0; i < device.bufferCount && error == CL_SUCCESS; ++i) {
    WeightBuffer &buffer = device.buffers[i];
    buffer.memory = device.library().clCreateBuffer(
        device.shared->context, CL_MEM_READ_ONLY, buffer.bytes, nullptr,
        &error);
    if (error == CL_SUCCESS)
      error = upload(device, buffer.memory, 0, tensors + buffer.first,
                     buffer.bytes);
  }
  return error;
}

} // namespace

cl_int upload(const Device &device, cl_mem memory, uint64_t offset,
              const void *from, uint64_t bytes) {
  const Library &cl = device.library();
  cl_int error = CL_SUCCESS;
  cl_command_queue queue = cl.clCreateCommandQueue(
      device.shared->context, device.shared->found.device, 0, &error);
  if (error == CL_SUCCESS)
    error = cl.clEnqueueWriteBuffer(queue, memory, CL_TRUE, offset, bytes, from,
                                    0, nullptr, nullptr);
  if (queue)
    cl.clReleaseCommandQueue(queue);
  return error;
}

mille_status uploadWeights(mille_package &package, Device &device) {
  const Places places(*package.model, package.weights);
  const Memory &memory = package.memory;
  device.weightsBytes = places.end;
  if (places.end > device.info().memory_bytes)
    return refuseMemory(device, "the weights need", places.end, CL_SUCCESS,
                        package.message());
  uint32_t count = 0;
  mille_status status = cut(device, places, nullptr, count, package.message());
  if (status != MILLE_OK || !count)
    return status;
  device.buffers = (WeightBuffer *)memory.allocate(
      memory.user, count * sizeof(WeightBuffer), 64);
  if (!device.buffers)
    return package.message().set(
        MILLE_OUT_OF_MEMORY,
        "a list of %u buffers of weights needs %zu bytes but "
        "memory was refused",
        count, count * sizeof(WeightBuffer));
  status = cut(device, places, device.buffers, device.bufferCount,
               package.message());
  cl_int error = fill(device, package.weights.tensors);
  return error == CL_SUCCESS
             ? status
             : refuseMemory(device, "the weights need", places.end, error,
                            package.message());
}

void releaseWeights(mille_package &package, Device &device) {
  const Memory &memory = package.memory;
  for (uint32_t i = 0; i < device.bufferCount; ++i)
    if (device.buffers[i].memory)
      device.library().clReleaseMemObject(device.buffers[i].memory);
  if (device.buffers)
    memory.release(memory.user, device.buffers);
}

const WeightBuffer *weightBufferOf(const Device &device, uint64_t place) {
  for (uint32_t i = 0; i < device.bufferCount; ++i)
    if (place - device.buffers[i].first < device.buffers[i].bytes)
      return &device.buffers[i];
  return nullptr;
}

} // namespace mille::opencl
