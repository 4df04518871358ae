// Interfaces and traits of kernel ops, by which passes treat all ops alike.
// Must not name an op.
#pragma once
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mille::kernel {

// Checks the rows of an op's operands against each other. Its verifier has not
// run yet.
mlir::LogicalResult verifyRows(mlir::Operation *op);

} // namespace mille::kernel

#include "dialects/kernel/OpInterfaces.h.inc"

namespace mille::kernel {

// A kernel generator makes the op's code.
template <typename Op>
struct Generated : mlir::OpTrait::TraitBase<Op, Generated> {};

// The op is a call into the runtime.
template <typename Op>
struct Prepared : mlir::OpTrait::TraitBase<Op, Prepared> {};

// Each row that the op writes depends on rows of one token only.
template <typename Op>
struct TokenLocal : mlir::OpTrait::TraitBase<Op, TokenLocal> {};

// The op adds to its destinations, which kernel.gradient gives; so it has an
// effect even where nothing uses its results.
template <typename Op> struct Adds : mlir::OpTrait::TraitBase<Op, Adds> {};

// The effects of an op: none on tensors. On memrefs it writes its destinations
// and reads all other operands.
void destinationEffects(mlir::DestinationStyleOpInterface op,
                        llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<
                            mlir::MemoryEffects::Effect>> &effects);

} // namespace mille::kernel
