// The parts of kernel ops that several readers of specs use.
// Must not be included outside of compiler/kernels.
#pragma once
#include "compiler/kernels/ReadSpec.h"
#include "dialects/kernel/Kernel.h"

namespace mille {

// Dimensions, strides and elements of a memref with one dimension or two.
mlir::LogicalResult readBuffer(mlir::Operation *op, mlir::Type type,
                               BufferSpec &spec);
// Like readBuffer, for an operand that is read at out[m, n].
mlir::LogicalResult readOperand(mlir::Operation *op, mlir::Type type,
                                int64_t columns, BufferSpec &spec);
void readRegion(mlir::Region &region, ScalarProgram &program);
RowStatistic statisticOf(kernel::RowNormKind kind);

// Ops of a training step: ReadTrainSpec.cpp.
mlir::LogicalResult readKernel(kernel::WeightGradientOp op, KernelSpec &spec);
mlir::LogicalResult readKernel(kernel::ColumnSumsOp op, KernelSpec &spec);
mlir::LogicalResult readKernel(kernel::EmbedGradientOp op, KernelSpec &spec);
mlir::LogicalResult readKernel(kernel::NormBackwardOp op, KernelSpec &spec);
mlir::LogicalResult readKernel(kernel::CrossEntropyOp op, KernelSpec &spec);
mlir::LogicalResult readKernel(kernel::PackOp op, KernelSpec &spec);
mlir::LogicalResult readKernel(kernel::AttentionBackwardOp op,
                               KernelSpec &spec);

} // namespace mille
