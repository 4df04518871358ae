// Halide kernels: one kernel op on memrefs becomes one object for one target.
// Must not know what the model is; sees one op at a time.
#pragma once
#include "compiler/Status.h"
#include "mlir/IR/Operation.h"

#include <string>
#include <vector>

namespace mille {

// An instruction set we generate for, from a closed list.
struct Isa {
  std::string name;         // "x86-64-v3", "x86-64-v4", "zen4"
  std::string halideTarget; // "x86-64-linux-avx512_zen4-..."
  uint64_t features;        // MILLE_CPU_* of runtime/abi.h
};
llvm::ArrayRef<Isa> knownIsas();

// Rows a kernel is scheduled for: few (12 x 2 register tile) or many (6 x 4).
enum class RowClass { few, many };

// What the host program must know about a kernel; mirrors mille_kernel.
struct KernelInfo {
  std::string name; // mille_k_<hash of the op and the schedule version>
  uint32_t partition, bufferCount, scalarCount, columnUnit, rowUnit, fewRows;
  uint64_t flopsPerRow, bytesWeights;
  std::vector<int8_t> rowDimension;
  uint64_t scratchBytes, scratchBytesPerToken; // heap temporaries per thread
};
KernelInfo describeKernel(mlir::Operation *kernelOp);

// The symbol of one variant's entry: <name>_<isa>_<few|many>.
std::string kernelSymbol(const KernelInfo &info, const Isa &isa, RowClass rows);

// The object's bytes, from the cache on disk ($XDG_CACHE_HOME/mille) or made.
// The symbol above is its entry, in the calling convention of runtime/abi.h.
Status generateKernel(mlir::Operation *kernelOp, const Isa &isa, RowClass rows,
                      bool useCache, std::string &object);

} // namespace mille
