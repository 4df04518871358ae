// Puts the sums of a work-item into registers where they outlive steps that all
// items of the group take together.
// Must not be included outside of compiler/halide.
#pragma once
#include "Halide.h"

namespace mille {

// Halide gives every item memory for the sums of the whole group; this lowering
// pass leaves `each` elements. `func` must be stored in registers, and no two
// items may share an element of it.
Halide::Internal::IRMutator *itemRegisters(const std::string &func, int each);

} // namespace mille
