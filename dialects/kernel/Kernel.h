// The `kernel` dialect in C++: one op is one launch, its epilogue a region.
// No passes, no files, no targets.
#pragma once
#include "dialects/kernel/OpInterfaces.h"
#include "dialects/transformer/Transformer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "dialects/kernel/KernelDialect.h.inc"
#include "dialects/kernel/KernelEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/kernel/KernelAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/kernel/KernelOps.h.inc"

namespace mille::kernel {

// The statistic that a norm of the `transformer` dialect divides by, or nothing
// for `identity`, which norms nothing.
std::optional<RowNormKind> rowNormKindOf(transformer::NormKind kind);

// How an operand of a row-wise kernel is read for out[m, n], from its shape.
enum class Access { element, column, row, scalar };

// The access of an operand of shape `type` in a kernel whose out has `columns`
// columns, or nothing where no access has that shape.
std::optional<Access> accessOf(mlir::ShapedType type, int64_t columns);

// Whether an op is code that is generated; the others are the runtime's.
bool isGenerated(mlir::Operation *op);

// How many elements of a packed weight stand side by side: what 32 bits hold.
inline int64_t groupOf(mlir::Type element) {
  return 32 / element.getIntOrFloatBitWidth();
}

} // namespace mille::kernel
