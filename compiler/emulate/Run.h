// Launches a kernel in the emulator as mille_device_launch does on a device:
// from the same description, with buffers in the host's memory.
#pragma once
#include "compiler/emulate/Code.h"
#include "compiler/emulate/Lower.h"
#include "runtime/abi.h"

#include <string>
#include <vector>

namespace mille::emulate {

// A buffer of the launch.
struct Buffer {
  std::string name;
  std::vector<char> bytes;
  int elementBytes = 2;
  bool written = true;  // has content before the launch
  bool weights = false; // no kernel writes it
};

struct LaunchCase {
  // The counts of mille_amount, by MILLE_COUNT_*.
  int64_t counts[5] = {1, 1, 1, 1, 1};
  std::vector<uint32_t> scalars; // 4 bytes each
  std::vector<int32_t> past;     // the rows that each sequence's state holds
  unsigned units = 2;            // of the device: for blocks_per_unit, apart
  uint64_t seed = 1;
  int broken = -1;                      // a place that is left out
  std::vector<char> *reached = nullptr; // by place: whether a thread came there
};

// A kernel that is ready to run, any number of times.
class Kernel {
public:
  // Copies the description. Null after an error: a diagnostic, or a sentence in
  // `problem`.
  static std::unique_ptr<Kernel> make(mlir::Operation *kernels,
                                      const mille_device_kernel &description,
                                      std::string &problem);

  // Runs it. An empty text, or what is wrong; `buffers` have the results.
  std::string run(const LaunchCase &launch, std::vector<Buffer> &buffers) const;

  const std::vector<Place> &places() const { return lowered.places; }

private:
  Kernel() = default;
  Lowered lowered;
  std::unique_ptr<Code> code;
  mille_device_kernel description{};
  std::vector<mille_launch_argument> arguments; // of the description
};

} // namespace mille::emulate
