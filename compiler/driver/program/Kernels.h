// The kernels of a planned program: which are distinct, and their objects, made
// by threads of our own. Must not know how a kernel is made.
#pragma once
#include "compiler/Status.h"
#include "compiler/kernels/KernelInfo.h"
#include "compiler/kernels/Targets.h"
#include "mlir/IR/Operation.h"

#include <utility>

namespace mille {

struct DistinctKernel {
  KernelInfo info;
  mlir::Operation *op; // the first of its kind
  unsigned places;     // ops of the program that it runs
};

// In the order of the program. Status::bug after an error on an op that no
// kernel can be made for: `plan` let it through.
Status distinctKernels(mlir::Operation *model,
                       std::vector<DistinctKernel> &kernels);

// "matmul 768 -> 3072", "attention 12 x 64", "rows 768 layer norm".
std::string describeInWords(mlir::Operation *kernelOp);

// The tiles of each and why, as remarks of `plan`.
void remarkOnTiles(llvm::ArrayRef<DistinctKernel> kernels,
                   llvm::ArrayRef<Target> isas);

// Each symbol once, for each instruction set and row class: name and bytes, in
// an order that does not depend on `jobs`. `made` is told how many of all there
// are, by any thread.
Status
generateKernels(llvm::ArrayRef<DistinctKernel> kernels,
                llvm::ArrayRef<Target> isas, const TileRanks &ranks,
                unsigned jobs, bool useCache,
                llvm::function_ref<void(size_t, size_t)> made,
                std::vector<std::pair<std::string, std::string>> &objects);

} // namespace mille
