// Halide kernels: one kernel op on memrefs becomes one object for one target.
// Must not know what the model is; sees one op at a time.
#pragma once
#include "compiler/KernelInfo.h"
#include "compiler/Status.h"
#include "mlir/IR/Operation.h"

namespace mille {

llvm::ArrayRef<Isa> knownIsas();

// Inputs are whole, or a slice whose minimum says where it starts; the out's
// minima and extents are the task's range, its rows within one sequence for
// attention: sequence s has the query rows s * queries ... and the key rows
// s * keys ...
KernelInfo describeKernel(mlir::Operation *kernelOp);

// The symbol of one variant's entry: <name>_<isa>_<few|many>_argv, '-' in the
// isa as '_'. Where both row classes are one kernel (rows, attention, and
// matmul on AVX2) both give the same symbol: generate and link each symbol
// once.
std::string kernelSymbol(const KernelInfo &info, const Isa &isa, RowClass rows);

// The tiles of a kernel for an instruction set or device, and why: a sentence
// for each. None where nothing is chosen by a model.
std::vector<std::string> explainTiles(mlir::Operation *kernelOp,
                                      const Isa &isa);

// The tiles that a kernel may have for an instruction set, in words: first the
// model's own, then those that it finds nearly as good. None where there is no
// choice.
std::vector<std::string> tilesOf(mlir::Operation *kernelOp, const Isa &isa);

// The object's bytes, from the cache on disk ($XDG_CACHE_HOME/mille) or made.
// `rank` is that of its tile. The symbol above is its entry, in the calling
// convention of runtime/abi.h.
Status generateKernel(mlir::Operation *kernelOp, const Isa &isa, RowClass rows,
                      bool useCache, std::string &object, unsigned rank = 0);

} // namespace mille
