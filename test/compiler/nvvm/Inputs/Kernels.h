// Matmuls of a file as kernels with a tile that a test names.
#pragma once
#include "compiler/nvvm/Tiles.h"
#include "mlir/IR/MLIRContext.h"

#include <functional>
#include <string>

namespace mille::test {

// Calls for each matmul of the file that the generator makes; prints why it
// declines others. False where the file cannot be read.
bool eachMatmul(
    const char *file,
    const std::function<void(mlir::MLIRContext &, const KernelSpec &)> &call);

// TILE: columns,blocks,cluster,pingPong or few or few,columns, or behind: with
// the norm in a launch behind the product; else the generator's choice.
nvvm::Kernel writeWithTile(mlir::MLIRContext &context, const KernelSpec &spec,
                           const std::string &tile);

mlir::Operation *kernelsOf(mlir::ModuleOp module);

// Lines of PTX that wait for the whole device or cluster: in the loop of a ring
// one would stall it.
unsigned deviceFencesIn(llvm::StringRef ptx);

// Appends a cubin to the file $CUBINS, for sass_order.py, where that is set.
void keepCubin(llvm::StringRef cubin);

} // namespace mille::test
