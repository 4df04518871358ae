// Finds the distinct kernels of a planned program, and makes their objects on
// several threads. Must not know how a kernel is made.
#pragma once
#include "compiler/Status.h"
#include "compiler/kernels/KernelInfo.h"
#include "compiler/kernels/Targets.h"
#include "mlir/IR/Operation.h"

#include <utility>

namespace mille {

struct DistinctKernel {
  KernelInfo info;
  mlir::Operation *op; // the first op that it runs
  unsigned places;     // the number of ops that it runs
};

// Lists kernels in program order. If no kernel can be made for an op, this
// emits an error and returns Status::bug, since plan should have refused the
// op.
Status distinctKernels(mlir::Operation *model,
                       std::vector<DistinctKernel> &kernels);

// A kernel in words: "matmul 768 -> 3072", "attention 12 x 64", "rows 768 layer
// norm".
std::string describeInWords(mlir::Operation *kernelOp);

// Emits the tile of each kernel, and the reason for it, as a remark of plan.
void remarkOnTiles(llvm::ArrayRef<DistinctKernel> kernels,
                   llvm::ArrayRef<Target> isas);

// Makes an object (name and bytes) per kernel, instruction set and row class.
// Their order does not depend on `jobs`. Calls `made` with the numbers of
// finished and of all objects, from any thread.
Status
generateKernels(llvm::ArrayRef<DistinctKernel> kernels,
                llvm::ArrayRef<Target> isas, const TileRanks &ranks,
                unsigned jobs, bool useCache,
                llvm::function_ref<void(size_t, size_t)> made,
                std::vector<std::pair<std::string, std::string>> &objects);

} // namespace mille
