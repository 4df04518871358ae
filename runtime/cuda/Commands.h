// A run's commands for the device, as bytes: launches of kernels, copies,
// fills. The program only appends; the run's end executes them, directly or as
// a CUDA graph, and knows equal runs by equal bytes.
// Must not allocate after `make`.
#pragma once
#include "runtime/cuda/Library.h"

namespace mille::cuda {

struct Kernel {
  CUfunction function;
  uint32_t blocks[3], threads[3], sharedBytes;
  uint32_t overlaps = 0; // it waits itself for the kernels before it
};

// The arguments of a kernel, one after the other.
class Arguments {
public:
  static constexpr uint32_t most = 64, room = 2048;

  // Copies a value of `size` bytes. False where there is no room.
  bool add(const void *value, uint32_t size);
  template <typename T> bool add(const T &value) {
    return add(&value, sizeof value);
  }

  uint32_t count = 0, end = 0;
  uint16_t at[most] = {}; // in `bytes`
  alignas(64) char bytes[room] = {};
};

class Commands {
public:
  // While planning, commands are counted, and their arguments are not read.
  void plan(bool planning);
  bool make(const Memory &memory); // room for the longest that was planned
  void release(const Memory &memory);
  void clear() { end = last = 0; }

  // Each appends one command; false where there is no room for it.
  bool launch(const Kernel &kernel, const Arguments &arguments);
  bool copyIn(CUdeviceptr to, const void *pinned, uint64_t bytes);
  bool copyRows(CUdeviceptr to, CUdeviceptr from, uint64_t stride,
                uint64_t rows, uint64_t rowBytes);
  bool fill(CUdeviceptr to, uint64_t zeros);

  // The kernel of the command that was appended last; null where it is none.
  const Kernel *lastKernel() const;
  void dropLast(); // that command

  // Enqueues all commands, in order.
  CUresult execute(const Library &cuda, CUstream stream) const;

  const char *bytes() const { return memory; }
  uint64_t size() const { return end; }
  uint64_t planned() const { return most; }

private:
  struct Command;
  bool add(const Command &command, const void *more = nullptr,
           uint64_t moreBytes = 0);

  char *memory = nullptr;
  uint64_t end = 0, most = 0;
  uint64_t last = 0; // where the last command begins
  bool planning = false;
};

} // namespace mille::cuda
