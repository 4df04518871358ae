// Turns the residual units of an imported model into stacks. Must read the
// numbers of parameters through `NumbersOf` only.
#pragma once
#include "compiler/Status.h"
#include "compiler/analyze/Stack.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mille::analyze {

// The units outside `layers`, stack by stack. A new stack begins if a unit's
// input does not come from the unit before, or if the channels change.
std::vector<std::vector<transformer::ResidualOp>>
unitsByStack(mlir::Operation *model);

// Gives the numbers of the parameter with this name.
using NumbersOf = llvm::function_ref<Numbers(llvm::StringRef)>;

// Fails if the model has no residual unit outside `layers`. With `unitBranches`
// it reads no numbers and assumes that every branch keeps the second moment.
Status readStacks(mlir::Operation *model, bool unitBranches,
                  NumbersOf numbersOf, std::vector<Stack> &stacks);

} // namespace mille::analyze
