// Runs the Hopper kernels of kernel ops in the emulator, beside their meaning
// in double.
#pragma once
#include "compiler/driver/emulate/Operands.h"
#include "compiler/emulate/Trials.h"
#include "mlir/IR/Operation.h"

namespace mille::emulated {

struct Options {
  emulate::Trials trials;
  unsigned units = 2;
  std::vector<int64_t> rows = {129}; // each is a run
  int64_t sequences = 1, keys = 0;   // keys 0: as many as queries
  int64_t first = 0;                 // position of the first query
  bool few = true, many = true;      // row classes
  bool allTiles = false;             // every tile, not the best one only
};

// How far an out of these elements may be off, as a part of its `sizeAt`.
double boundOf(const KernelSpec &spec, Element out);
// An empty text, or the first number that is not what it must be.
std::string judgeOut(const Operand &expected, const emulate::Buffer &buffer,
                     double bound);

// The kernels of an op on memrefs, ready to run one after the other. None, with
// a sentence in `problem`, where the generator leaves it to another or the
// emulator refuses it.
using Kernels = std::vector<std::unique_ptr<emulate::Kernel>>;
Kernels makeKernels(mlir::Operation *op, const KernelSpec &spec, bool few,
                    unsigned rank, std::string &problem);
// Marks the buffers that a kernel has changed as written: the op's next kernel
// may read them.
void noteWritten(const std::vector<emulate::Buffer> &before,
                 std::vector<emulate::Buffer> &buffers);
// What a launch at these sizes is given.
emulate::LaunchCase launchOf(const Sizes &sizes);

// Each row class of each tile at each size: a line that says so, then what the
// trials say. Status::bug where one fails; input for an op that no generator of
// Hopper makes or that has no reference.
Status run(mlir::Operation *op, const Options &options, llvm::raw_ostream &out);

} // namespace mille::emulated
