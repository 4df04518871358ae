// The `kernel` dialect: registration, and what all ops share.
// Must not verify: that is in Verify.cpp.
#include "dialects/kernel/Kernel.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mille::kernel;

#include "dialects/kernel/KernelDialect.cpp.inc"
#include "dialects/kernel/KernelEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/kernel/KernelAttrs.cpp.inc"
#include "dialects/kernel/OpInterfaces.cpp.inc"
// Small, not fast: most of it is printing, parsing and building, and it is the
// largest file of a build.
#pragma clang attribute push(__attribute__((minsize)), apply_to = function)
#define GET_OP_CLASSES
#include "dialects/kernel/KernelOps.cpp.inc"
#pragma clang attribute pop

void KernelDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/kernel/KernelOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/kernel/KernelAttrs.cpp.inc"
      >();
}

bool mille::kernel::isGenerated(Operation *op) {
  return op->hasTrait<Generated>();
}

void mille::kernel::destinationEffects(
    DestinationStyleOpInterface op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    if (!op.isDpsInit(&operand) || op->hasTrait<Adds>())
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
  // States and gradients outlive the run: what no op of the entry reads is
  // written too.
  if (isa<RememberOp>(op) || op->hasTrait<Adds>())
    effects.emplace_back(MemoryEffects::Write::get());
}

Value LaunchOp::getRowsLike(unsigned result) {
  Block &body = getBody().front();
  return body.mightHaveTerminator() &&
                 result < body.getTerminator()->getNumOperands()
             ? body.getTerminator()->getOperand(result)
             : Value();
}

Value LayersOp::getRowsLike(unsigned result) {
  return result < getStream().size() ? getStream()[result] : Value();
}

std::optional<Access> mille::kernel::accessOf(ShapedType type,
                                              int64_t columns) {
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.size() == 2 && shape[0] == ShapedType::kDynamic) {
    if (shape[1] == columns)
      return Access::element;
    return shape[1] == 1 ? std::optional(Access::row) : std::nullopt;
  }
  if (shape.size() == 1 && shape[0] == columns)
    return Access::column;
  if (shape.size() == 2 && shape[0] == 1 && shape[1] == columns)
    return Access::column;
  if (shape.size() == 1 && shape[0] == 1)
    return Access::scalar;
  return std::nullopt;
}

std::optional<RowNormKind>
mille::kernel::rowNormKindOf(transformer::NormKind kind) {
  using transformer::NormKind;
  switch (kind) {
  case NormKind::layer_norm:
    return RowNormKind::layer;
  case NormKind::rms_norm:
    return RowNormKind::rms;
  case NormKind::l2_norm:
    return RowNormKind::l2;
  case NormKind::identity:
    return std::nullopt;
  }
  llvm_unreachable("a NormKind has one of the values above");
}
