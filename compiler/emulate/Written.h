// A gpu.module that carries its launch: its buffers are drawn, its results are
// those of another schedule. Must not know what the kernel computes.
#pragma once
#include "compiler/emulate/Trials.h"

namespace mille::emulate {

struct WrittenOptions {
  Trials trials;
  unsigned units = 2;
  int64_t counts[5] = {1, 1, 1, 1, 1};
  bool print = false; // the results
  std::string folder; // where to write all buffers, NUMBER.bin; empty: not
};

// Runs it; all schedules must give the same bits.
Status runWritten(mlir::Operation *kernels, const WrittenOptions &options,
                  llvm::raw_ostream &out);

} // namespace mille::emulate
