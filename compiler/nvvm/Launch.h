// How a kernel is launched: the constant description of abi.h as C++, which a
// generator fills beside the kernel's code. Must not use MLIR.
#pragma once
#include "compiler/nvvm/Half.h"
#include "runtime/abi.h"

#include <array>
#include <string>
#include <vector>

namespace mille::nvvm {

// count * times / per, rounded up.
inline mille_amount amountOf(uint32_t count, uint32_t times = 1,
                             uint32_t per = 1) {
  return {count, times, per};
}
inline mille_amount constantAmount(uint32_t number) {
  return {MILLE_COUNT_ONE, number, 1};
}

// A tensor of a buffer, dimension 0 being the innermost.
struct Dimension {
  mille_amount extent;
  mille_amount strideBytes; // not read of dimension 0
  uint32_t box;
};

// mille_device_kernel without the code; `entry` is the name of the kernel's
// function.
struct Launch {
  std::string entry;
  uint32_t threads = 0;
  uint32_t cluster = 1;
  uint32_t sharedBytes = 0;
  uint32_t blocksPerUnit = 0;
  bool overlaps = false;  // it waits itself for the kernels before it
  bool apart = false;     // its blocks are in units of their own
  Half half = Half::bf16; // the type of its floats of 16 bits
  std::array<mille_amount, 3> tiles = {constantAmount(1), constantAmount(1),
                                       constantAmount(1)};
  std::vector<mille_launch_argument> arguments;

  // Each adds an argument and gives its number. Buffers count as in the
  // kernel's calling convention, from 0; the out is the last.
  unsigned addAddress(uint32_t buffer) {
    return add(MILLE_ARGUMENT_ADDRESS, buffer, {});
  }
  unsigned addAmount(mille_amount amount) {
    return add(MILLE_ARGUMENT_AMOUNT, 0, amount);
  }
  unsigned addScalar(uint32_t scalar) {
    return add(MILLE_ARGUMENT_SCALAR, scalar, {});
  }
  unsigned addZeros(uint32_t bytes) {
    return add(MILLE_ARGUMENT_ZEROS, 0, constantAmount(bytes));
  }
  unsigned addStarts(uint32_t buffer) {
    return add(MILLE_ARGUMENT_STARTS, buffer, {});
  }
  unsigned addPast() { return add(MILLE_ARGUMENT_PAST, 0, {}); }
  // As many bytes as the amounts multiplied.
  unsigned addScratch(const std::vector<mille_amount> &amounts) {
    unsigned index = add(MILLE_ARGUMENT_SCRATCH, 0, {});
    mille_launch_argument &argument = arguments[index];
    for (const mille_amount &amount : amounts)
      argument.extent[argument.rank++] = amount;
    return index;
  }
  unsigned addCounters(mille_amount bytes) {
    return add(MILLE_ARGUMENT_COUNTERS, 0, bytes);
  }
  unsigned addTensor(uint32_t buffer,
                     const std::vector<Dimension> &dimensions) {
    unsigned index = add(MILLE_ARGUMENT_TENSOR, buffer, {});
    mille_launch_argument &argument = arguments[index];
    for (const Dimension &dimension : dimensions) {
      argument.box[argument.rank] = dimension.box;
      argument.extent[argument.rank] = dimension.extent;
      argument.stride[argument.rank++] = dimension.strideBytes;
    }
    return index;
  }

private:
  unsigned add(uint32_t kind, uint32_t number, mille_amount amount) {
    mille_launch_argument argument = {};
    argument.kind = kind;
    argument.number = number;
    argument.amount = amount;
    arguments.push_back(argument);
    return arguments.size() - 1;
  }
};

// The description without the code. It points into the launch.
inline mille_device_kernel descriptionOf(const Launch &launch) {
  mille_device_kernel kernel = {};
  kernel.entry = launch.entry.c_str();
  kernel.threads = launch.threads;
  kernel.cluster = launch.cluster;
  kernel.shared_bytes = launch.sharedBytes;
  kernel.blocks_per_unit = launch.blocksPerUnit;
  for (int i = 0; i < 3; ++i)
    kernel.tiles[i] = launch.tiles[i];
  kernel.argument_count = launch.arguments.size();
  kernel.overlaps = launch.overlaps;
  kernel.apart = launch.apart;
  kernel.arguments = launch.arguments.data();
  return kernel;
}

} // namespace mille::nvvm
