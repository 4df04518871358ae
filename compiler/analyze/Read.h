// Residual units of a model, as imported, become stacks. Asks for a parameter's
// numbers only what `NumbersOf` is asked.
#pragma once
#include "compiler/Status.h"
#include "compiler/analyze/Stack.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mille::analyze {

// The units outside `layers`, stack by stack: one ends where a unit's input
// does not come from the unit before, or channels change.
std::vector<std::vector<transformer::ResidualOp>>
unitsByStack(mlir::Operation *model);

// The numbers of the parameter of this name.
using NumbersOf = llvm::function_ref<Numbers(llvm::StringRef)>;

// An error where the model has no residual unit outside `layers`. With
// `unitBranches` no number is asked for: every branch keeps the second moment.
Status readStacks(mlir::Operation *model, bool unitBranches,
                  NumbersOf numbersOf, std::vector<Stack> &stacks);

} // namespace mille::analyze
