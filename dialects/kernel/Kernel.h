// The `kernel` dialect in C++: an op is one launch, and its epilogue is a
// region. Must not know passes, files or targets.
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

// The statistic by which a norm of the `transformer` dialect divides; nothing
// for `identity`.
std::optional<RowNormKind> rowNormKindOf(transformer::NormKind kind);

// How an operand of a row-wise kernel is read for out[m, n], from its shape.
enum class Access { element, column, row, scalar };

// The access of an operand of shape `type` in a kernel whose out has `columns`
// columns, or nothing where no access has that shape.
std::optional<Access> accessOf(mlir::ShapedType type, int64_t columns);

// Whether a generator makes the op's code; the runtime computes other ops.
bool isGenerated(mlir::Operation *op);

// The numbers that `quantize` gives beside a row of values of this type.
int64_t rowParameters(mlir::Type element, int64_t columns);

// The number of elements of a packed weight that lie side by side: as many as
// fit 32 bits.
inline int64_t groupOf(mlir::Type element) {
  return 32 / element.getIntOrFloatBitWidth();
}

} // namespace mille::kernel
