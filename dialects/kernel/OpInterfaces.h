// Interfaces and traits of kernel ops: what passes ask of any of them.
// Must not name an op.
#pragma once
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/kernel/OpInterfaces.h.inc"

namespace mille::kernel {

// The op is code that a kernel generator makes.
template <typename Op>
struct Generated : mlir::OpTrait::TraitBase<Op, Generated> {};

// The op is a call into the runtime.
template <typename Op>
struct Prepared : mlir::OpTrait::TraitBase<Op, Prepared> {};

// A row that the op writes is made of rows of one token only.
template <typename Op>
struct TokenLocal : mlir::OpTrait::TraitBase<Op, TokenLocal> {};

// On tensors none; on memrefs what is not a destination is read, and each
// destination is written.
void destinationEffects(mlir::DestinationStyleOpInterface op,
                        llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<
                            mlir::MemoryEffects::Effect>> &effects);

} // namespace mille::kernel
