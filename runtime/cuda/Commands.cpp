// Every byte of a command is written, so that equal commands have equal bytes.
#include "runtime/cuda/Commands.h"

#include <string.h>

namespace mille::cuda {
namespace {

constexpr uint64_t alignment = 64; // of a tensor map

uint64_t rounded(uint64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

enum Kind : uint64_t { launching, copyingIn, copyingRows, filling };

} // namespace

struct alignas(alignment) Commands::Command {
  uint64_t kind, size; // with what follows
  Kernel kernel;
  CUdeviceptr to, from;
  const void *pinned;
  uint64_t bytes, stride, rows;
  uint32_t count, reserved; // of arguments, which follow
  uint16_t at[Arguments::most];

  explicit Command(Kind of) {
    memset((void *)this, 0, sizeof *this);
    kind = of;
  }
  CUresult execute(const Library &cuda, CUstream stream, bool overlaps) const;
  CUresult executeLaunch(const Library &cuda, CUstream stream,
                         bool overlaps) const;
  CUresult executeRows(const Library &cuda, CUstream stream) const;
};

CUresult Commands::Command::executeLaunch(const Library &cuda, CUstream stream,
                                          bool overlaps) const {
  void *arguments[Arguments::most];
  for (uint32_t a = 0; a < count; ++a)
    arguments[a] = (char *)(this + 1) + at[a];
  if (overlaps) {
    CUlaunchAttribute attribute = {};
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value[0] = 1;
    const CUlaunchConfig config = {kernel.blocks[0],   kernel.blocks[1],
                                   kernel.blocks[2],   kernel.threads[0],
                                   kernel.threads[1],  kernel.threads[2],
                                   kernel.sharedBytes, stream,
                                   &attribute,         1};
    return cuda.cuLaunchKernelEx(&config, kernel.function, arguments, nullptr);
  }
  return cuda.cuLaunchKernel(
      kernel.function, kernel.blocks[0], kernel.blocks[1], kernel.blocks[2],
      kernel.threads[0], kernel.threads[1], kernel.threads[2],
      kernel.sharedBytes, stream, arguments, nullptr);
}

CUresult Commands::Command::executeRows(const Library &cuda,
                                        CUstream stream) const {
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = from;
  copy.srcPitch = stride;
  copy.dstDevice = to;
  copy.dstPitch = copy.WidthInBytes = bytes;
  copy.Height = rows;
  return cuda.cuMemcpy2DAsync(&copy, stream);
}

CUresult Commands::Command::execute(const Library &cuda, CUstream stream,
                                    bool overlaps) const {
  switch (kind) {
  case launching:
    return executeLaunch(cuda, stream, overlaps);
  case copyingIn:
    return cuda.cuMemcpyHtoDAsync(to, pinned, bytes, stream);
  case copyingRows:
    return executeRows(cuda, stream);
  case filling:
    return cuda.cuMemsetD8Async(to, 0, bytes, stream);
  }
  return CUDA_ERROR_INVALID_VALUE;
}

bool Arguments::add(const void *value, uint32_t size) {
  const uint32_t step = size > 8 ? alignment : 8;
  const uint32_t begin = (end + step - 1) / step * step;
  if (count == most || begin > room || size > room - begin)
    return false;
  memcpy(bytes + begin, value, size);
  at[count++] = (uint16_t)begin;
  end = begin + size;
  return true;
}

void Commands::plan(bool begins) {
  planning = begins;
  clear();
}

bool Commands::make(const Memory &of) {
  memory = (char *)of.allocate(of.user, most + alignment, alignment);
  return memory;
}

void Commands::release(const Memory &of) {
  if (memory)
    of.release(of.user, memory);
  memory = nullptr;
}

bool Commands::add(const Command &command, const void *more,
                   uint64_t moreBytes) {
  const uint64_t size = sizeof command + rounded(moreBytes);
  if (planning) {
    end += size;
    most = end > most ? end : most;
    return true;
  }
  if (size > most - end)
    return false;
  last = end;
  char *to = (char *)memcpy(memory + end, &command, sizeof command);
  ((Command *)to)->size = size;
  if (moreBytes) {
    memset(to + size - alignment, 0, alignment); // what the last line leaves
    memcpy(to + sizeof command, more, moreBytes);
  }
  end += size;
  return true;
}

bool Commands::launch(const Kernel &kernel, const Arguments &arguments) {
  Command command(launching);
  command.kernel = kernel;
  command.count = arguments.count;
  memcpy(command.at, arguments.at, sizeof command.at);
  return add(command, arguments.bytes, arguments.end);
}

const Kernel *Commands::lastKernel() const {
  const Command *command = (const Command *)(memory + last);
  return !planning && last < end && command->kind == launching
             ? &command->kernel
             : nullptr;
}

void Commands::dropLast() { end = last; }

bool Commands::copyIn(CUdeviceptr to, const void *pinned, uint64_t bytes) {
  Command command(copyingIn);
  command.to = to;
  command.pinned = pinned;
  command.bytes = bytes;
  return add(command);
}

bool Commands::copyRows(CUdeviceptr to, CUdeviceptr from, uint64_t stride,
                        uint64_t rows, uint64_t rowBytes) {
  Command command(copyingRows);
  command.to = to;
  command.from = from;
  command.stride = stride;
  command.rows = rows;
  command.bytes = rowBytes;
  return add(command);
}

bool Commands::fill(CUdeviceptr to, uint64_t zeros) {
  Command command(filling);
  command.to = to;
  command.bytes = zeros;
  return add(command);
}

CUresult Commands::execute(const Library &cuda, CUstream stream) const {
  CUresult error = CUDA_SUCCESS;
  // A kernel waits for kernels alone: after a copy or a fill, the stream waits.
  bool afterKernel = false;
  for (uint64_t at = 0; at < end && error == CUDA_SUCCESS;) {
    const Command &command = *(const Command *)(memory + at);
    const bool overlaps = afterKernel && command.kernel.overlaps;
    error = command.execute(cuda, stream, overlaps && cuda.overlapsKernels());
    afterKernel = command.kind == launching;
    at += command.size;
  }
  return error;
}

} // namespace mille::cuda
